import { describe, expect, test } from 'vitest';
import type { SubagentEvent } from '../../../src/harness/adapter.ts';
import { settle } from '../../support/fake-clock.ts';
import { RouterBed } from '../../support/router-bed.ts';

const identity: SubagentEvent = {
  type: 'subagent_identity',
  payload: {
    native_id: 'child',
    parent_native_id: 'root',
    native_created_at: 1_767_225_601,
    parent_turn_id: 'turn',
    source_item_id: 'item',
    name: 'reviewer',
    instructions: null,
  },
};
const item = (text: string): SubagentEvent => ({
  type: 'subagent_item',
  payload: {
    native_id: 'child',
    turn_id: 'child-turn',
    item_id: 'message',
    position: 0,
    kind: 'output_message',
    payload: { id: 'message', status: 'completed', text },
  },
});

describe('observations of sub-agents', () => {
  test('reach Core with the id of the Run, where they were asked for', async () => {
    const bed = new RouterBed();
    await bed.startRun('run', 'prepare', 'session', { observe_subagent_identities: true });
    bed.take();
    for (const event of [identity, item('Looks fine.')]) await bed.harness.last.output.emit(event);
    await settle();
    expect(bed.take()).toEqual([
      { type: 'subagent_identity', id: 'run', payload: expect.objectContaining({ native_id: 'child' }) },
      { type: 'subagent_item', id: 'run', payload: expect.objectContaining({ item_id: 'message' }) },
    ]);
  });

  test('are told to nobody who did not ask', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    await bed.harness.last.output.emit(identity);
    await settle();
    expect(bed.take()).toEqual([]);
  });

  test('an item that no frame can carry is left out, and the Turn goes on', async () => {
    const bed = new RouterBed();
    await bed.startRun('run', 'prepare', 'session', { observe_subagent_identities: true });
    bed.take();
    bed.onSend = ({ type }) => (type === 'subagent_item' ? 'too_large' : 'written');
    await bed.harness.last.output.emit(item('more than a frame'));
    await bed.harness.last.finish('Done');
    await settle();
    expect(bed.take()).toEqual([{ type: 'done', id: 'run', payload: { content: 'Done' } }]);
  });
});
