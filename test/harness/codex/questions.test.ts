import { describe, expect } from 'vitest';

import { startFakeMcp } from '../../support/model-servers/fake-mcp.mjs';
import { codexTest } from './codex-bed.ts';

const questions = [
  {
    id: 'colour',
    header: 'Colour',
    question: 'Which one?',
    options: [
      { label: 'Red', description: 'warm' },
      { label: 'Blue', description: 'cold' },
    ],
  },
  { id: 'size', header: 'Size', question: 'How large?', options: [{ label: 'S', description: '' }] },
];
const ask = { steps: [{ tool: 'request_user_input', id: 'call_1', input: { questions } }] };
const done = { steps: [{ text: 'Done.' }] };

describe('questions of the model', () => {
  codexTest('reach the person with their options, and the answers reach the model', async (bed) => {
    bed.model.setScenario([ask, done]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    const { request } = await output.next('choice');
    expect(request).toMatchObject({ toolUseId: 'call_1', expiresInMs: null });
    expect(request.questions[0]).toEqual({
      id: 'colour',
      header: 'Colour',
      question: 'Which one?',
      is_other: true,
      is_secret: false,
      options: [
        { label: 'Red', description: 'warm' },
        { label: 'Blue', description: 'cold' },
      ],
    });
    const answers = new Map([
      ['colour', ['Blue']],
      ['size', ['as large as it gets']],
    ]);
    expect(await turn.submitPermission?.(request.key, { kind: 'allow' })).toBe('not_pending');
    expect(await turn.submitChoice?.(request.key, { kind: 'answers', answers })).toBe('applied');
    expect(await turn.submitChoice?.(request.key, { kind: 'answers', answers })).toBe('not_pending');
    await output.end();
    const said = bed.model.calls.at(-1)?.about.lastTool ?? '';
    expect(JSON.parse(said)).toEqual({
      answers: { colour: { answers: ['Blue'] }, size: { answers: ['as large as it gets'] } },
    });
  });

  for (const answer of [{ kind: 'cancelled', reason: null }, { kind: 'expired' }] as const) {
    codexTest(`that are ${answer.kind} give the model no answer, and the Turn goes on`, async (bed) => {
      bed.model.setScenario([ask, done]);
      const { output, turn } = await bed.start(await bed.ready(), 'Work');
      expect(await turn.submitChoice?.((await output.next('choice')).request.key, answer)).toBe('applied');
      expect((await output.end()).payload.content).toBe('Done.');
      expect(bed.model.calls.at(-1)?.about.lastTool).not.toMatch(/Red|Blue/);
      expect(output.all('error')).toEqual([]);
    });
  }

  codexTest('that were only answered in part leave the rest out', async (bed) => {
    bed.model.setScenario([ask, done]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    const answers = new Map([['size', []]]);
    await turn.submitChoice?.((await output.next('choice')).request.key, { kind: 'answers', answers });
    await output.end();
    expect(JSON.parse(bed.model.calls.at(-1)?.about.lastTool ?? '')).toEqual({
      answers: { size: { answers: [] } },
    });
  });

  codexTest(
    'in a message, which the model does not wait for: the answer is input of the running Turn',
    async (bed) => {
      bed.model.setScenario([
        {
          steps: [
            {
              tool: 'request_user_input_async',
              namespace: 'functions',
              id: 'call_1',
              input: { questions: [{ title: 'Which one?', options: ['Red', 'Blue'] }] },
            },
          ],
        },
        { steps: [{ text: ['Meanwhile ', { hold: 'talking' }, 'on.'] }] },
        { when: { lastUser: 'Blue' }, steps: [{ text: 'Blue it is.' }] },
      ]);
      const { output, turn } = await bed.start(await bed.ready(), 'Work');
      const { request } = await output.next('choice');
      expect(request.questions).toEqual([
        { id: 'q1', question: 'Which one?', is_other: true, options: [{ label: 'Red' }, { label: 'Blue' }] },
      ]);
      await bed.model.reached('talking');
      const answers = new Map([['q1', ['Blue']]]);
      expect(await turn.submitChoice?.(request.key, { kind: 'answers', answers })).toBe('applied');
      await output.end();
      expect(bed.model.calls.at(-1)?.about.lastUser).toBe('Which one?\nBlue');
      expect(turn.outcome().content).toBe('Blue it is.');
    },
    { model: 'gpt-6.2-sol' },
  );

  codexTest(
    'in a message that nobody answered end with the Turn',
    async (bed) => {
      bed.model.setScenario([
        {
          steps: [
            {
              tool: 'request_user_input_async',
              namespace: 'functions',
              id: 'call_1',
              input: { questions: [{ title: 'Which one?', options: ['Red', 'Blue'] }] },
            },
          ],
        },
        { steps: [{ text: 'I took red.' }] },
      ]);
      const { output, turn } = await bed.run(await bed.ready(), 'Work');
      const { key } = output.all('choice')[0]?.request ?? { key: '' };
      expect(output.all('withdrawn')).toEqual([{ type: 'withdrawn', key }]);
      expect(await turn.submitChoice?.(key, { kind: 'cancelled', reason: null })).toBe('not_pending');
      expect(turn.outcome().content).toBe('I took red.');
    },
    { model: 'gpt-6.2-sol' },
  );
});

describe('questions of an MCP server', () => {
  codexTest('reach the person as questions, and the answers come back in their types', async (bed) => {
    const heard: unknown[] = [];
    const requestedSchema = {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Name' },
        count: { type: 'integer', description: 'How many' },
        fresh: { type: 'boolean' },
        size: { type: 'string', enum: ['s', 'l'], enumNames: ['Small', 'Large'] },
      },
      required: ['name'],
    };
    const mcp = await startFakeMcp({
      tools: {
        order: {
          annotations: { readOnlyHint: true },
          run: async (_args, { elicit }) => {
            heard.push(await elicit({ message: 'Your order?', requestedSchema }));
            return 'ordered';
          },
        },
      },
    });
    try {
      const executor = await bed.ready({
        disable_execution_environment: true,
        mcp_http_servers: [
          { connection_origin: 'service', server_label: 'shop', server_url: mcp.url, allowed_tools: null },
        ],
      });
      const order = { steps: [{ tool: 'order', namespace: 'mcp__shop', id: 'call_1', input: {} }] };
      bed.model.setScenario([order, done]);
      const first = await bed.start(executor, 'Order');
      const { request } = await first.output.next('choice');
      expect(
        request.questions.map(({ id, options, is_other }) => [id, options.map((o) => o.label), is_other]),
      ).toEqual([
        ['count', [], true],
        ['fresh', ['Yes', 'No'], false],
        ['name', [], true],
        ['size', ['Small', 'Large'], false],
      ]);
      const answers = new Map([
        ['name', ['Ada']],
        ['count', ['3']],
        ['fresh', ['No']],
        ['size', ['Large']],
      ]);
      expect(await first.turn.submitChoice?.(request.key, { kind: 'answers', answers })).toBe('applied');
      await first.output.end();
      expect(heard[0]).toMatchObject({
        action: 'accept',
        content: { name: 'Ada', count: 3, fresh: false, size: 'l' },
      });

      bed.model.setScenario([order, done]);
      const second = await bed.start(executor, 'Order');
      const again = await second.output.next('choice');
      await second.turn.submitChoice?.(again.request.key, { kind: 'cancelled', reason: null });
      await second.output.end();
      expect(heard[1]).toMatchObject({ action: 'cancel' });
    } finally {
      await mcp.close();
    }
  });
});
