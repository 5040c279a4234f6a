import { describe, expect } from 'vitest';

import { claudeTest } from './claude-test.ts';

const color = 'Which color?';
const extras = 'Which extras?';
const ask = {
  steps: [
    {
      tool: 'AskUserQuestion',
      id: 'toolu_ask',
      input: {
        questions: [
          {
            question: color,
            header: 'Color',
            multiSelect: false,
            options: [
              { label: 'Red', description: 'Like a rose' },
              { label: 'Blue', description: 'Like the sea' },
            ],
          },
          {
            question: extras,
            header: 'Extras',
            multiSelect: true,
            options: [
              { label: 'Bell', description: 'Rings' },
              { label: 'Lamp', description: 'Shines' },
            ],
          },
        ],
      },
    },
  ],
};

describe('questions', () => {
  claudeTest(
    'every question has an id of its own and the answers reach the model under their texts',
    async (bed) => {
      bed.model.setScenario([ask, { steps: [{ text: 'Thanks.' }] }]);
      const { output, turn } = await bed.start(await bed.ready(), 'Ask me');
      const { request } = await output.next('choice');
      expect(request).toMatchObject({
        toolUseId: 'toolu_ask',
        expiresInMs: null,
        questions: [
          {
            header: 'Color',
            question: color,
            multi_select: false,
            is_other: true,
            options: [
              { label: 'Red', description: 'Like a rose' },
              { label: 'Blue', description: 'Like the sea' },
            ],
          },
          { header: 'Extras', question: extras, multi_select: true },
        ],
      });
      const [first, second] = request.questions.map((question) => question.id);
      expect(first).not.toBe(second);
      const answers = new Map([
        [second ?? '', ['Bell', 'A whistle']],
        [first ?? '', ['Blue']],
      ]);
      expect(await turn.submitChoice?.(request.key, { kind: 'answers', answers })).toBe('applied');
      await output.end();
      const told = bed.model.calls[1]?.about.lastTool ?? '';
      expect(told).toContain('Blue');
      expect(told).toContain('Bell, A whistle');
      expect(output.all('permission')).toEqual([]);
    },
  );

  claudeTest('what was not answered and an explicit non-answer are left out', async (bed) => {
    bed.model.setScenario([ask, { steps: [{ text: 'Thanks.' }] }]);
    const { output, turn } = await bed.start(await bed.ready(), 'Ask me');
    const { request } = await output.next('choice');
    const answers = new Map([
      ['no such question', ['x']],
      [request.questions[0]?.id ?? '', []],
      [request.questions[1]?.id ?? '', ['Lamp']],
    ]);
    await turn.submitChoice?.(request.key, { kind: 'answers', answers });
    await output.end();
    const told = bed.model.calls[1]?.about.lastTool ?? '';
    expect(told).toContain('Lamp');
    expect(told).not.toMatch(/Red|Blue/);
  });

  for (const [name, answer, text] of [
    ['cancelled', { kind: 'cancelled', reason: null }, 'chose not to answer'],
    ['expired', { kind: 'expired' }, 'Nobody answered in time'],
  ] as const) {
    claudeTest(`a question that is ${name} gives the model no answer and the Turn goes on`, async (bed) => {
      bed.model.setScenario([ask, { steps: [{ text: 'Going on.' }] }]);
      const { output, turn } = await bed.start(await bed.ready(), 'Ask me');
      expect(await turn.submitChoice?.((await output.next('choice')).request.key, answer)).toBe('applied');
      expect((await output.end()).payload.content).toBe('Going on.');
      expect(bed.model.calls[1]?.about.lastTool).toContain(text);
    });
  }

  claudeTest('a question is asked under every policy and withdrawn by a cancel', async (bed) => {
    bed.model.setScenario([ask]);
    const { output, turn } = await bed.start(await bed.ready({}, { policy: 'unattended' }), 'Ask me');
    const { request } = await output.next('choice');
    await turn.cancel();
    expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    expect(output.all('withdrawn')).toEqual([{ type: 'withdrawn', key: request.key }]);
    expect(await turn.submitChoice?.(request.key, { kind: 'cancelled', reason: null })).toBe('not_pending');
  });
});
