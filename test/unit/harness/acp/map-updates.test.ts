import { describe, expect, test } from 'vitest';
import { UpdateMapper } from '../../../../src/harness/acp/map-updates.ts';
import { systemRandom } from '../../../../src/platform/random.ts';
import type { HarnessEvent } from '../../../../src/harness/adapter.ts';

const options = { observeMessages: true, observeTools: true };
const begin = (id: string) => ({
  sessionUpdate: 'tool_call' as const,
  toolCallId: id,
  title: `call ${id}`,
  status: 'in_progress' as const,
});
const stages = (events: readonly HarnessEvent[]): readonly string[] =>
  events.flatMap((event) =>
    event.type === 'tool_call' ? [`${event.payload.id} ${event.payload.stage}`] : [],
  );

describe('tool calls of an agent', () => {
  test('an agent that begins them without end is followed in the newest, and each begun call ends once', () => {
    const mapper = new UpdateMapper(options, systemRandom);
    const seen: string[] = [];
    for (let n = 0; n < 3_000; n++) seen.push(...stages(mapper.accept(begin(String(n)))));
    seen.push(...stages(mapper.close(true)));
    for (const n of [0, 1_999, 2_999])
      expect(seen.filter((line) => line.startsWith(`${n} `))).toEqual([`${n} before`, `${n} after`]);
    expect(seen).toHaveLength(6_000);
    expect(mapper.call('0')).toBeUndefined();
  });

  test('a late word about a finished call does not begin it again', () => {
    const mapper = new UpdateMapper(options, systemRandom);
    const end = { sessionUpdate: 'tool_call_update' as const, toolCallId: 'a', status: 'completed' as const };
    expect(stages(mapper.accept(begin('a')))).toEqual(['a before']);
    expect(stages(mapper.accept(end))).toEqual(['a after']);
    expect(mapper.accept(begin('a'))).toEqual([]);
    expect(mapper.accept(end)).toEqual([]);
  });
});
