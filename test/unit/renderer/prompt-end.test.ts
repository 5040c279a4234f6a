import { describe, expect, test } from 'vitest';
import {
  dropSeen,
  isOwn,
  nextEnded,
  withFocus,
  type EndedPrompt,
} from '../../../renderer/select/ended-prompts.ts';
import { promptEnd, type EndedContext } from '../../../renderer/select/prompt-end.ts';
import { clockSeconds } from '../../../renderer/select/time-words.ts';
import type { HistoryEntry } from '../../../src/contract/history.ts';
import { ago, ahead, now, prompts, view } from '../../support/renderer-fixture/samples.ts';

const entry = (over: Partial<HistoryEntry>): HistoryEntry => ({
  kind: 'permission',
  id: 'p-command',
  run_id: 'run-ledger',
  binding: 'billing-service',
  harness: 'claude_sdk',
  title: 'Run a command',
  at: ago(0),
  outcome: 'allowed',
  decided_by: 'person',
  detail: null,
  ...over,
});
const applied = `Applied at ${clockSeconds(now)}.`;
const end = (over: Partial<HistoryEntry>, sent: EndedContext['sent'] = null, interaction = prompts.command) =>
  promptEnd({ entry: entry(over), interaction, sent });
const sent = (
  answer: 'allow' | 'deny' | 'answers' | 'cancel',
  scope: 'once' | 'turn' | null = null,
  withReason = false,
) => ({ answer, scope, withReason, won: true });

describe('how a prompt ended, in words', () => {
  test('an own answer names what was done and when it was applied', () => {
    expect(end({}, sent('allow', 'once'))).toMatchObject({ text: `Allowed once. ${applied}`, own: true });
    expect(end({}, sent('allow', 'turn')).text).toBe(`Allowed for this Turn. ${applied}`);
    expect(end({ outcome: 'denied' }, sent('deny')).text).toBe(`Denied. ${applied}`);
    expect(end({ outcome: 'denied' }, sent('deny', null, true)).text).toBe(
      `Denied. ${applied} The agent was told your reason.`,
    );
    expect(end({ kind: 'user_choice', outcome: 'answered' }, sent('answers')).text).toBe(
      `Answered. ${applied}`,
    );
  });

  test('another place was first with the same answer: it is not claimed, and until that is known nobody’s', () => {
    expect(end({}, { ...sent('allow', 'once'), won: false })).toMatchObject({
      text: `Already answered in another place. Allowed. ${applied} Your answer was not applied.`,
      own: false,
    });
    expect(end({}, { ...sent('allow', 'once'), won: null })).toMatchObject({
      text: `Allowed. ${applied}`,
      own: false,
    });
    expect(end({ outcome: 'cancelled' }, { ...sent('cancel'), won: false }).own).toBe(false);
  });

  test('Core was first: the own answer is said not to be applied', () => {
    expect(end({ decided_by: 'core' }, sent('deny'))).toMatchObject({
      text: `Already answered by Core. Allowed. ${applied} Your answer was not applied.`,
      own: false,
    });
  });

  test('an answer from the terminal is not claimed by this window', () => {
    expect(end({})).toMatchObject({
      text: `Already answered in another place. Allowed. ${applied}`,
      own: false,
    });
    expect(end({ outcome: 'denied' }, sent('allow', 'once')).text).toContain('Your answer was not applied.');
  });

  test('a rule or a policy is named', () => {
    expect(end({ decided_by: 'rule', detail: 'npm test, made 20 November' }).text).toBe(
      'Allowed by your rule. npm test, made 20 November.',
    );
    expect(end({ decided_by: 'policy', outcome: 'denied' }).text).toBe('Denied by your configuration.');
  });

  test('withdrawn says who took it back and that nothing was decided', () => {
    expect(end({ outcome: 'withdrawn', decided_by: 'harness' }).text).toBe(
      'Withdrawn. The agent took the request back. Nothing was allowed or denied.',
    );
    expect(end({ outcome: 'withdrawn', decided_by: null, detail: 'The Turn was stopped' }).text).toBe(
      'Withdrawn. The Turn was stopped. Nothing was allowed or denied.',
    );
  });

  test('expired is not denied', () => {
    const text = end({ outcome: 'expired', decided_by: null }, null, {
      ...prompts.command,
      since: ago(600),
      expires_at: ahead(0),
    }).text;
    expect(text).toBe(
      'Expired. No answer within 10 min. The agent was told that nobody answered, not that you denied.',
    );
  });

  test('declined, unknown, and not known at all', () => {
    expect(end({ kind: 'user_choice', outcome: 'cancelled' }, sent('cancel'))).toMatchObject({
      text: 'You declined to answer. The agent was told so.',
      own: true,
    });
    expect(end({ outcome: 'unknown' }, sent('allow', 'once'))).toMatchObject({
      text: 'Outcome unknown. Your answer was written, but the agent did not confirm it. It will not be sent again.',
      mark: { shape: 'dash', tone: 'none' },
      own: false,
    });
    expect(promptEnd({ entry: undefined, interaction: prompts.command, sent: null }).text).toBe(
      'Not open any more. How it ended is not known here.',
    );
  });
});

describe('prompts that left', () => {
  const before = view();
  const without = (history = before.history) => view({ interactions: before.interactions.slice(1), history });
  const next = (over: Partial<Parameters<typeof nextEnded>[0]> = {}) =>
    nextEnded({
      ended: [],
      previous: before,
      view: without(),
      sentFor: () => null,
      focused: true,
      now: 1_000,
      ...over,
    });

  test('are kept with what history says of them', () => {
    const withdrawn = entry({ outcome: 'withdrawn' });
    expect(next({ view: without([...before.history, withdrawn]) })).toMatchObject([
      { interaction: { id: 'p-command' }, entry: { outcome: 'withdrawn' }, seenSince: 1_000 },
    ]);
  });

  test('learn how they ended from a later view', () => {
    const first = next();
    expect(first[0]?.entry).toBeNull();
    const later = nextEnded({
      ended: first,
      previous: without(),
      view: without([...before.history, entry({ outcome: 'expired' })]),
      sentFor: () => null,
      focused: true,
      now: 2_000,
    });
    expect(later).toMatchObject([{ entry: { outcome: 'expired' } }]);
  });

  test('are forgotten when they are open again', () => {
    expect(
      nextEnded({
        ended: next(),
        previous: without(),
        view: before,
        sentFor: () => null,
        focused: true,
        now: 2_000,
      }),
    ).toEqual([]);
  });

  const own: EndedPrompt = {
    interaction: prompts.command,
    entry: entry({}),
    sent: sent('allow', 'once'),
    endedAt: 1_000,
    seenSince: null,
  };
  const other: EndedPrompt = {
    ...own,
    entry: entry({ outcome: 'withdrawn', decided_by: 'harness' }),
    sent: null,
  };

  test('an own answer leaves after 4 s, focus or not', () => {
    expect(isOwn(own)).toBe(true);
    expect(dropSeen([own], 4_999)).toHaveLength(1);
    expect(dropSeen([own], 5_000)).toHaveLength(0);
  });

  test('anything else waits until the window has had the focus for 10 s', () => {
    expect(dropSeen([other], 1_000_000)).toHaveLength(1);
    const looked = withFocus([other], true, 50_000);
    expect(dropSeen(looked, 59_999)).toHaveLength(1);
    expect(dropSeen(looked, 60_000)).toHaveLength(0);
    expect(dropSeen(withFocus(looked, false, 55_000), 1_000_000)).toHaveLength(1);
  });
});
