import { describe, expect } from 'vitest';

import { says } from '../bed.ts';
import { codexTest, eventually } from './codex-bed.ts';

describe('active input', () => {
  codexTest('while the model talks cuts its message off and is read by the next request', async (bed) => {
    bed.model.setScenario([
      { steps: [{ text: ['Working ', { hold: 'talking' }, 'on it.'] }] },
      { when: { lastUser: 'Also this' }, steps: [{ text: 'Both then.' }] },
    ]);
    const { output, turn } = await bed.start(await bed.ready(), 'Long work');
    await output.next('delta');
    let written = 0;
    expect(await turn.steer?.(says('Also this'), () => written++)).toEqual({ kind: 'accepted' });
    expect(written).toBe(1);
    await output.end();
    expect(output.all('output_message').map((event) => event.payload.status)).toEqual([
      'in_progress',
      'incomplete',
      'in_progress',
      'completed',
    ]);
    expect(turn.outcome().content).toBe('Both then.');
    expect(output.all('error')).toEqual([]);
  });

  codexTest('while a command runs is written at once and read after it', async (bed) => {
    bed.model.setScenario([
      { steps: [{ tool: 'exec_command', id: 'call_1', input: { cmd: 'touch begun; sleep 1' } }] },
      { when: { lastUser: 'Also this' }, steps: [{ text: 'Both then.' }] },
    ]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    let written = false;
    const steering = turn.steer?.(says('Also this', 'and that'), () => (written = true));
    await eventually(() => written);
    expect(output.all('tool_call')).toHaveLength(1);
    expect(await steering).toEqual({ kind: 'accepted' });
    expect(output.all('tool_call')).toHaveLength(2);
    await output.end();
    expect(JSON.stringify(bed.model.calls.at(-1)?.body.input.at(-1))).toContain('and that');
  });

  codexTest('that was written and never read is unknown', async (bed) => {
    bed.model.setScenario([
      { steps: [{ tool: 'exec_command', id: 'call_1', input: { cmd: 'touch begun; sleep 2714' } }] },
    ]);
    const executor = await bed.ready();
    const { output, turn } = await bed.start(executor, 'Work');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    let written = false;
    const steering = turn.steer?.(says('Wait for me'), () => (written = true));
    await eventually(() => written);
    await turn.cancel();
    expect(await steering).toMatchObject({ kind: 'unknown' });
    expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    bed.model.setScenario([{ steps: [{ text: 'Next.' }] }]);
    await bed.run(executor, 'Next');
    expect(JSON.stringify(bed.model.calls.at(-1)?.body.input)).not.toContain('Wait for me');
  });

  codexTest('with a picture that is none is rejected and the Turn goes on', async (bed) => {
    bed.model.setScenario([{ steps: [{ text: ['Working ', { hold: 'talking' }, 'on it.'] }] }]);
    const { output, turn } = await bed.start(await bed.ready(), 'Work');
    await output.next('delta');
    const image = { content: [{ type: 'input_image' as const, image_url: 'https://example.invalid/a.png' }] };
    let written = 0;
    expect(await turn.steer?.([image], () => written++)).toEqual({ kind: 'rejected' });
    expect(written).toBe(0);
    bed.model.release('talking');
    expect((await output.end()).payload.content).toBe('Working on it.');
    expect(await turn.steer?.(says('Late'), () => written++)).toEqual({ kind: 'inactive' });
  });
});
