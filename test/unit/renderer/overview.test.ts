import { worstState } from '../../../src/contract/worst-state.ts';
import { describe, expect, test } from 'vitest';
import { agentRows } from '../../../renderer/select/agent-rows.ts';
import { announcements, countdownAnnouncements } from '../../../renderer/select/announcements.ts';
import { cleanupLine } from '../../../renderer/select/cleanup-line.ts';
import { historyDays, historyRow } from '../../../renderer/select/history-row.ts';
import {
  bannerItem,
  defaultAgent,
  homeLede,
  isFirstRun,
  runtimeFoot,
  runtimeLine,
  windowTitle,
} from '../../../renderer/select/overview.ts';
import { counted, countedDown, moment, span } from '../../../renderer/select/time-words.ts';
import { viewSchema } from '../../../src/contract/view.ts';
import {
  ago,
  binding,
  cleanup,
  connection,
  history,
  localBinding,
  lost,
  now,
  parked,
  prompts,
  turns,
  view,
} from '../../support/renderer-fixture/samples.ts';
import { harnesses } from '../../support/renderer-fixture/sample-agents.ts';
import { scenarios } from '../../support/renderer-fixture/scenarios.ts';

const well = view({ bindings: [binding('a'), localBinding()], turns: [], interactions: [], cleanup: [] });

describe('Home', () => {
  test('the title says the number', () => {
    expect(homeLede(view(), now)).toEqual({
      title: '4 prompts need you',
      text: 'The oldest has waited 4:12. Its Turn waits for your answer.',
    });
    expect(windowTitle(view(), 'Home')).toBe('4 prompts need you · Home · Agent Runtime');
  });

  test('all that is well takes one line', () => {
    expect(homeLede(well, now)).toEqual({
      title: 'Nothing needs you',
      text: 'All 2 bindings are connected.',
    });
  });

  test('what is not well is said there too', () => {
    expect(homeLede({ ...view(), interactions: [] }, now).text).toBe(
      '3 Turns are open. 2 bindings are not connected. 1 thing has not settled.',
    );
  });

  test('the first run is a local Core of which nothing was ever asked', () => {
    const fresh = view({ bindings: [localBinding()], turns: [], interactions: [], cleanup: [], history: [] });
    expect(isFirstRun(fresh)).toBe(true);
    expect(isFirstRun({ ...fresh, history: [...history] })).toBe(false);
    expect(isFirstRun({ ...fresh, bindings: [localBinding(), binding('a')] })).toBe(false);
    expect(isFirstRun({ ...fresh, bindings: [] })).toBe(false);
  });
});

describe('the worst state', () => {
  test('a prompt is worse than anything', () => {
    expect(worstState(view(), now)).toBe('needs_you');
  });
  test('one lost binding hides behind a well one, a parked one does not', () => {
    expect(worstState({ ...well, bindings: [binding('a'), binding('b', { connection: lost })] }, now)).toBe(
      'connected',
    );
    expect(worstState({ ...well, bindings: [binding('b', { connection: lost })] }, now)).toBe('disconnected');
    expect(worstState({ ...well, bindings: [binding('a'), binding('b', { connection: parked })] }, now)).toBe(
      'disconnected',
    );
  });
  test('working, paused, stopped, connected', () => {
    expect(worstState({ ...well, turns: [turns.plan] }, now)).toBe('working');
    expect(worstState({ ...well, runtime: { ...well.runtime, state: 'paused' } }, now)).toBe('paused');
    expect(
      worstState(
        { ...well, bindings: [binding('a', { connection: connection({ state: 'stopped' }) })] },
        now,
      ),
    ).toBe('stopped');
    expect(worstState(well, now)).toBe('connected');
  });
});

describe('pausing and stopping', () => {
  test('paused says what goes on', () => {
    const paused = view({ runtime: { ...view().runtime, state: 'paused' } });
    expect(runtimeFoot(paused, now)).toMatchObject({ state: 'paused', title: 'Paused' });
    expect(runtimeLine(paused, now)).toMatchObject({
      state: 'Paused. Takes no new work',
      reason: '3 Turns go on until they end.',
      action: 'resume',
    });
  });
  test('stopping says how many have not ended and for how long', () => {
    const stopping = view({ runtime: { ...view().runtime, state: 'stopping' }, turns: [turns.plan] });
    expect(runtimeLine(stopping, now)).toMatchObject({
      state: 'Stopping. 1 Turn has not ended',
      action: 'stop_now',
    });
  });
  test('running needs no card', () => {
    expect(runtimeLine(view(), now)).toBeNull();
  });
});

describe('agents', () => {
  test('the default is the first that is ready and not the demo', () => {
    expect(defaultAgent([harnesses.notes, harnesses.demo, harnesses.codex])?.kind).toBe('codex');
    expect(defaultAgent([harnesses.notes, harnesses.demo])?.kind).toBe('demo');
    expect(defaultAgent([harnesses.notes])).toBeNull();
  });
  test('each is listed once, the demo last', () => {
    expect(agentRows(view()).map((row) => row.agent.kind)).toEqual([
      'claude_sdk',
      'codex',
      'review-agent',
      'notes-agent',
      'demo',
    ]);
    expect(agentRows(view())[0]?.bindings).toHaveLength(4);
  });
});

test('the banner shows one error, the oldest; of warnings only that there is no tray', () => {
  const item = (code: string, severity: 'info' | 'warning' | 'error', seconds: number) => ({
    code,
    severity,
    since: ago(seconds),
    text: code,
    next: '',
  });
  expect(bannerItem(view({ health: [item('w', 'warning', 900)] }))).toBeNull();
  expect(
    bannerItem(
      view({ health: [item('w', 'warning', 900), item('new', 'error', 10), item('old', 'error', 20)] }),
    )?.code,
  ).toBe('old');
  const noTray = item('no_tray', 'warning', 5);
  expect(bannerItem(view({ health: [item('w', 'warning', 900), noTray] }))?.code).toBe('no_tray');
  expect(bannerItem(view({ health: [noTray, item('new', 'error', 1)] }))?.code).toBe('new');
});

test('what did not settle: by whom, how often tried, what it may still do', () => {
  expect(cleanupLine(cleanup)).toMatchObject({
    title: 'Process group still there',
    text: 'Left by Turn “Split invoice template”. Told to end 3 times. Process 48213 did not end. It may still change files.',
    busy: false,
  });
  expect(cleanupLine({ ...cleanup, state: 'retrying' }).busy).toBe(true);
});

describe('history', () => {
  const query = { filter: 'all', search: '', now, most: 100 } as const;

  test('most recent first, by day', () => {
    const page = historyDays(history, query);
    expect(page.days.map((day) => day.name)).toEqual(['Today', 'Yesterday']);
    expect(page.days[0]?.rows[0]?.entry.id).toBe('h12');
    expect(page.found).toBe(history.length);
  });

  test('filters and searches everything a row shows', () => {
    expect(historyDays(history, { ...query, filter: 'turns' }).found).toBe(5);
    expect(historyDays(history, { ...query, filter: 'decisions' }).found).toBe(6);
    expect(historyDays(history, { ...query, search: 'USAGE LIMIT' }).days[0]?.rows[0]?.entry.id).toBe('h4');
    expect(historyDays(history, { ...query, search: 'nobody' }).found).toBe(1);
  });

  test('each outcome has its words and its author', () => {
    const row = (id: string): string => {
      const entry = history.find((one) => one.id === id);
      if (entry === undefined) throw new Error(id);
      const { text, by } = historyRow(entry);
      return `${text} / ${by}`;
    };
    expect(row('h8')).toBe('Expired: answer 1 question / Nobody');
    expect(row('h9')).toBe('Withdrawn: run a command / The agent');
    expect(row('h11')).toBe('Turn “Split invoice template”: outcome unknown / ');
    expect(row('h12')).toBe('Allowed: npm test / Your configuration');
    expect(row('h6')).toBe('Allowed: git status --short / Core');
  });

  test('a title of an agent shows its hidden characters', () => {
    const entry = history[0];
    if (entry === undefined) throw new Error('no history');
    expect(historyRow({ ...entry, title: 'a\u202Eb' }).text).toContain('aU+202Eb');
  });
});

describe('what a screen reader hears', () => {
  const without = view({ interactions: [] });

  test('a prompt once, with its kind and the way there', () => {
    expect(announcements(without, view({ interactions: [prompts.command] }), now)).toEqual([
      { text: 'billing-service needs you. A command. 1 prompt open. F6 to go there.', urgent: false },
    ]);
  });
  test('many at once in one sentence', () => {
    expect(announcements(without, view(), now).map((item) => item.text)).toEqual([
      '4 prompts arrived. 4 prompts open. F6 to go there.',
    ]);
  });
  test('an unchanged view is silent', () => {
    expect(announcements(view(), view(), now)).toEqual([]);
  });
  test('only a missing credential store and a full disk interrupt', () => {
    const health = [
      { code: 'disk_full', severity: 'error' as const, since: ago(1), text: 'The disk is full.', next: '' },
      { code: 'other', severity: 'error' as const, since: ago(1), text: 'Other.', next: '' },
    ];
    expect(announcements(view(), view({ health }), now)).toEqual([
      { text: 'The disk is full.', urgent: true },
    ]);
  });
  test('a lost connection and an ended Turn are said', () => {
    const gone = view({
      bindings: [binding('billing-service', { connection: lost }), ...view().bindings.slice(1)],
    });
    expect(announcements(view(), gone, now)[0]?.text).toMatch(/^billing-service: Lost at/);
    const entry = { ...(history[0] ?? ([] as never)), run_id: 'run-plan', title: 'x' };
    const ended = view({ turns: [turns.ledger, turns.columns], history: [...history, entry] });
    expect(announcements(view(), ended, now)[0]?.text).toBe(
      'Turn Draft a test plan for the import job: Completed and settled.',
    );
  });
  test('a countdown is heard at 60 s and at 10 s and else never', () => {
    const heard = (before: number, after: number) =>
      countdownAnnouncements(
        view({ interactions: [prompts.question] }),
        now + before * 1_000,
        now + after * 1_000,
      ).map((item) => item.text);
    expect(heard(0, 1)).toEqual([]);
    expect(heard(207, 208)).toEqual(['scratch: 60 s left to answer.']);
    expect(heard(208, 209)).toEqual([]);
    expect(heard(257, 258)).toEqual(['scratch: 10 s left to answer.']);
    expect(heard(268, 269)).toEqual([]);
  });
});

test('times and durations', () => {
  expect([span(2_900), span(360_000), span(7_200_000), span(200_000_000)]).toEqual([
    '2 s',
    '6 min',
    '2 h',
    '2 days',
  ]);
  expect([counted(252_000), counted(3_723_000), countedDown(17_200), countedDown(-5)]).toEqual([
    '4:12',
    '1:02:03',
    '0:18',
    '0:00',
  ]);
  expect(moment(now - 86_400_000, now)).toMatch(/^Thursday \d\d:\d\d$/);
  expect(moment(now - 30 * 86_400_000, now)).toMatch(/^28 October \d\d:\d\d$/);
});

test('every state of the fixture is a view of the contract', () => {
  for (const [name, scenario] of Object.entries(scenarios)) {
    expect(viewSchema.safeParse(scenario.view).success, name).toBe(true);
    if (scenario.then) expect(viewSchema.safeParse(scenario.then).success, name).toBe(true);
  }
});
