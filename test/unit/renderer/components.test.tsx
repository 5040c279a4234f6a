// @vitest-environment happy-dom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { mark } from '../../../renderer/select/mark.ts';
import { StatusMark } from '../../../renderer/ui/status-mark.tsx';
import { failureSentence } from '../../../src/app/connection-words.ts';
import type { HistoryEntry } from '../../../src/contract/history.ts';
import { transient } from '../../../src/observe/failure.ts';
import type { View } from '../../../src/contract/view.ts';
import {
  ago,
  ahead,
  binding,
  cleanup,
  connection,
  prompts,
  turn,
  turns,
  view,
} from '../../support/renderer-fixture/samples.ts';
import { scenarios, type Scenario } from '../../support/renderer-fixture/scenarios.ts';
import { buttonNamed, renderWindow, type TestWindow } from '../../support/render-window.tsx';

/** Every state that the design draws side by side (`components.html`), each out of the window itself. */
const scenario = (name: string): Scenario => {
  const found = scenarios[name];
  if (!found) throw new Error(`no scenario ${name}`);
  return found;
};
const open = (over: Partial<View>, hash = '#/'): Promise<TestWindow> =>
  renderWindow({ view: view(over), hash });
const textOf = (element: Element | null | undefined): string =>
  (element?.textContent ?? '').replace(/\s+/g, ' ').trim();

const shapes = [
  'on',
  'half',
  'ring',
  'dash',
  'bang',
  'slash',
  'xx',
  'tick',
  'minus',
  'hour',
  'paus',
  'sq',
] as const;
const drawings = new Map(
  shapes.map((shape) => {
    const box = document.createElement('div');
    box.innerHTML = renderToStaticMarkup(<StatusMark mark={mark(shape)} />);
    return [box.querySelector('svg')?.innerHTML, shape] as const;
  }),
);

/** Shape and colour of the first mark in `element`, as "bang warn". */
function markOf(element: ParentNode): string {
  const found = element.querySelector('svg.g');
  const tone = [...(found?.classList ?? [])].filter((name) => !['g', 'lg', 'turning'].includes(name));
  return [drawings.get(found?.innerHTML), ...tone].join(' ');
}

describe('connection', () => {
  const named = (name: string): HTMLElement => {
    const card = [...document.querySelectorAll<HTMLElement>('section[aria-labelledby="h-con"] li.bind')].find(
      (each) => textOf(each.querySelector('.name')) === name,
    );
    if (card === undefined) throw new Error(`no card of ${name}`);
    return card;
  };

  test.each([
    ['getting-ready', 'ring run', 'Asking Core where to connect', 'core.example.com, for 2 s', null],
    ['dialing', 'ring run', 'Connecting', 'core.example.com, for 1 s', null],
    ['trying', 'slash warn', /^Lost at .+\. Trying now$/, 'Try 5', null],
    ['no-network', 'slash warn', /^Lost at .+\. Next try in 0:07$/, 'No network. Try 3.', 'Try now'],
    [
      'wrong-address',
      'bang warn',
      'Core does not know this address',
      /^It answered 404 since .+ Trying on, every 30 s\.$/,
      'Show details',
    ],
    [
      'cleanup',
      'slash warn',
      /^Lost at .+\. Waiting for cleanup$/,
      'Not connecting again until what was started has ended.',
      null,
    ],
    [
      'after-sleep',
      'ring warn',
      'Checking after sleep',
      'The machine woke 3 s ago. Not yet known whether Core still hears this app.',
      null,
    ],
    [
      'taken-over',
      'bang warn',
      'Lost 4 times within a minute',
      'Another program may use the same credential. Next try in 4:00.',
      'Try now',
    ],
    [
      'version',
      'xx bad',
      'Parked: versions differ',
      'Core speaks 0.9.2, this app 0.9.1. Update the app, or Core must be updated.',
      'Look for an update',
    ],
    [
      'credential',
      'xx bad',
      'Parked: Core rejected the credential',
      'It was revoked or replaced. The folder and history stay. Enrol again to go on.',
      'Enrol again',
    ],
    [
      'retired',
      'xx bad',
      'Parked: Core retired this binding',
      'Nothing here can undo that. Ask whoever runs this Core, or remove the binding.',
      'Remove retired…',
    ],
    [
      'keychain',
      'bang bad',
      'Credential store unavailable',
      'The credential store did not answer. The credential was neither read nor changed.',
      'Try again',
    ],
    ['suspended', 'paus', 'Suspended by Core', 'It takes no work until Core resumes it.', null],
    ['stopped', 'sq', /^Stopped at /, 'Everything that was started has ended.', 'Start'],
  ] as const)('%s: mark, state, reason, the one thing to do', async (name, drawn, state, reason, action) => {
    await renderWindow(scenario('home-states'));
    const card = named(name);
    expect(markOf(card)).toBe(drawn);
    const [first, second] = [...card.querySelectorAll('p')].map(textOf);
    expect(first).toEqual(typeof state === 'string' ? state : expect.stringMatching(state));
    expect(second).toEqual(typeof reason === 'string' ? reason : expect.stringMatching(reason));
    const [button] = card.querySelectorAll('button');
    expect(button === undefined ? null : (button.getAttribute('aria-label') ?? textOf(button))).toBe(action);
  });

  test.each([
    ['network', null, 'No network. Try 2.'],
    ['name_not_found', null, 'Name not found: core.example.com. Try 2.'],
    ['proxy_auth', null, 'The proxy wants a password (407). Try 2.'],
    ['proxy_unreachable', null, 'The proxy cannot be reached. Try 2.'],
    ['captive_portal', null, /wants a sign-in first\..+browser/],
    ['tls', 'CERT_HAS_EXPIRED', /has expired\. Check the clock of this machine/],
    ['tls', 'ERR_TLS_CERT_ALTNAME_INVALID', /is not one for core\.example\.com/],
    ['tls', 'SELF_SIGNED_CERT_IN_CHAIN', /issuer is unknown here .+ can be named in Settings/],
    ['http_status', '503', 'Core answered 503. Try 2.'],
  ] as const)('lost to %s (%s) says so in plain words', async (code, detail, words) => {
    const lost = connection({
      ...{ state: 'waiting', since: ago(9), lost_at: ago(9), attempt: 2, next_attempt_at: ahead(9) },
      ...{ reason_code: code, reason: failureSentence(transient(code, detail), 'core.example.com') },
    });
    await open({ bindings: [binding('away', { connection: lost })] });
    expect(markOf(named('away'))).toBe('slash warn');
    const reason = textOf(named('away').querySelectorAll('p')[1]);
    if (typeof words === 'string') expect(reason).toBe(words);
    else expect(reason).toMatch(words);
    expect(textOf(named('away').querySelector('button'))).toBe('Try now');
  });

  test('connected shrinks to one row; last heard is in Settings', async () => {
    await renderWindow(scenario('home-states'));
    expect(named('connected').className).toContain('fine');
    expect(named('connected').querySelectorAll('p, button')).toHaveLength(0);
    await open({}, '#/settings/bindings');
    expect(document.body.textContent).toMatch(/core\.example\.com · last heard \d+ s ago/);
  });

  test('paused is a card of the whole machine, with the way back', async () => {
    await renderWindow(scenario('home-paused'));
    const card = named('This machine');
    expect([...card.querySelectorAll('p')].map(textOf)).toEqual([
      'Paused. Takes no new work',
      '3 Turns go on until they end.',
    ]);
    expect(textOf(card.querySelector('button'))).toBe('Resume');
  });
});

const ended = (over: Partial<HistoryEntry> & Pick<HistoryEntry, 'id' | 'outcome'>): HistoryEntry => ({
  ...{ kind: 'turn', run_id: over.id, binding: 'scratch', harness: 'claude_sdk', title: over.id },
  ...{ at: ago(30), decided_by: null, detail: null },
  ...over,
});

describe('Turns', () => {
  const row = (title: string): HTMLElement => {
    const found = [...document.querySelectorAll<HTMLElement>('.turn-row')].find(
      (each) => textOf(each.querySelector('.t')) === title,
    );
    if (found === undefined) throw new Error(`no row of ${title}`);
    return found;
  };
  const pips = (element: Element): string =>
    [...element.querySelectorAll('.ev i')].map((pip) => pip.className || '-').join('');
  const listed = async (): Promise<void> => {
    const waiting = turn({ run_id: 'run-plan', title: 'Waiting', phase: 'waiting_for_answer' });
    await open(
      {
        turns: [...scenario('home-states').view.turns, waiting],
        interactions: [{ ...prompts.command, run_id: 'run-plan' }],
        history: [
          ended({ id: 'Completed', outcome: 'completed' }),
          ended({ id: 'Stopped', outcome: 'cancelled', decided_by: 'person' }),
          ended({ id: 'Failed', outcome: 'failed', detail: 'usage_limit_exceeded: out of it' }),
          ended({ id: 'Lost', outcome: 'unknown' }),
          ended({ id: 'Left', outcome: 'completed' }),
        ],
        cleanup: [{ ...cleanup, owner: 'Turn Left' }],
      },
      '#/turns',
    );
  };

  test.each([
    ['Preparing', 'ring run', 'n----', 'Preparing: session and folder are checked'],
    ['Working', 'half run', 'ppn--', /^Working: last output \d+ s ago/],
    ['Quiet', 'half', 'ppp--', 'No output for 6 min. The process is alive.'],
    ['Waiting', 'bang warn', 'ppw--', 'Waiting for your answer'],
    ['Stopping', 'ring', 'ppp--', 'Stopping for 8 s, end not observed'],
    [
      'Stop not proven',
      'ring',
      'ppp--',
      'Stop not confirmed after 15 s. The Turn keeps its place. Try again.',
    ],
    ['Completed', 'tick ok', 'ppppp', 'Completed and settled'],
    ['Stopped', 'sq', 'ppppp', 'Stopped by you and settled'],
    ['Failed', 'xx bad', 'ppppp', 'Failed: usage limit reached at the agent’s provider. Settled.'],
    [
      'Lost',
      'dash',
      'pppu-',
      'Outcome unknown: the connection was lost before the end was observed. It will not run again by itself.',
    ],
    ['Left', 'dash', 'ppppu', 'Completed, not settled: 1 process is still there'],
  ] as const)('%s: mark, evidence, words', async (title, drawn, strip, words) => {
    await listed();
    const found = row(title);
    expect(markOf(found)).toBe(drawn);
    expect(pips(found)).toBe(strip);
    const said = textOf(found.querySelector('.meta'));
    if (typeof words === 'string') expect(said.endsWith(words), said).toBe(true);
    else expect(said.replace(/^.* · /, '')).toMatch(words);
  });
});

test('every shape of the vocabulary is drawn by the window somewhere, each beside a word or with a label', async () => {
  const seen = new Set<string>();
  const look = (): void => {
    for (const svg of document.querySelectorAll('svg.g')) {
      const shape = drawings.get(svg.innerHTML);
      if (shape === undefined) throw new Error(svg.outerHTML);
      seen.add(shape);
      const words = svg.getAttribute('aria-label') ?? textOf(svg.parentElement);
      expect(words, svg.parentElement?.outerHTML).not.toBe('');
    }
  };
  for (const name of ['home', 'home-states', 'home-paused', 'turns', 'history']) {
    await renderWindow(scenario(name));
    look();
  }
  const ends: View['history'] = [
    ended({ kind: 'permission', id: 'e1', outcome: 'expired' }),
    ended({ kind: 'permission', id: 'e2', outcome: 'withdrawn' }),
  ];
  await open({ history: ends }, '#/history');
  look();
  expect([...seen].sort()).toEqual([...shapes].sort());
});

const click = (element: Element): Promise<void> => act(async () => void fireEvent.click(element));
const press = (name: string): Promise<void> => click(buttonNamed(name));

describe('prompts: tool input and network host', () => {
  test('a tool: name, server, label and value; Allow opens when all of the input has been shown', async () => {
    const window = await renderWindow(scenario('prompt-tool'));
    await window.wait(1_000);
    const card = screen.getByRole('article', { name: 'Use a tool: create_issue' });
    const rows = [...card.querySelectorAll('.input-row')].map((row) => [...row.children].map(textOf));
    expect(rows).toContainEqual(['title', 'Broken links on the install page']);
    expect(rows).toContainEqual(['name', 'Autumn']);
    expect(textOf(card)).toContain('tracker');
    expect(buttonNamed('Allow once', card).getAttribute('aria-disabled')).toBe('true');
    expect(textOf(card)).toContain('Allow opens when all of the input has been shown.');
    expect(buttonNamed('Deny', card).getAttribute('aria-disabled')).toBeNull();
    await window.readToTheEnd();
    expect(buttonNamed('Allow once', card).getAttribute('aria-disabled')).toBeNull();
    for (const name of ['Allow for this Turn', 'Deny with reason…', 'Later'])
      expect(buttonNamed(name, card)).toBeTruthy();
  });

  test('a host: large, with its port, its protocol and what its letters are', async () => {
    await open({ interactions: [prompts.network] }, '#/prompt/p-network');
    const card = screen.getByRole('article', { name: 'Reach a host' });
    expect(textOf(card.querySelector('.code'))).toMatch(/^api\.example\.org ?: ?443/);
    const facts = [...card.querySelectorAll('dl.facts dt')].map((term) => [
      textOf(term),
      textOf(term.nextElementSibling),
    ]);
    expect(facts).toContainEqual(['Protocol', 'https']);
    expect(facts).toContainEqual(['Lookalike', 'none found, plain ASCII']);
  });
});

describe('after the answer: the daemon says it, not the click', () => {
  const decided = (over: Partial<HistoryEntry>): View => {
    const entry = ended({
      kind: 'permission',
      id: 'p-command',
      outcome: 'allowed',
      title: 'Run a command',
      ...over,
    });
    return view({ revision: 2, interactions: [prompts.chained], history: [entry] });
  };
  const asked = async (): Promise<TestWindow> => {
    const window = await open({ interactions: [prompts.command, prompts.chained] });
    await window.readToTheEnd();
    await window.wait(1_000);
    return window;
  };
  const card = (): HTMLElement => {
    const found = document.querySelector<HTMLElement>('li[data-prompt="p-command"]');
    if (found === null) throw new Error('no place of the prompt');
    return found;
  };

  test('sending: the buttons stay, locked', async () => {
    await asked();
    await click(within(card()).getByRole('button', { name: 'Allow once' }));
    expect(textOf(card())).toContain('Sending your answer');
    for (const each of card().querySelectorAll('.actions button.choice'))
      expect(each.getAttribute('aria-disabled')).toBe('true');
  });

  test.each([
    ['allowed', 'Allow once', { decided_by: 'person' }, 'tick ok', /Allowed once\. Applied at [\d:]+\.$/],
    [
      'denied',
      'Deny',
      { outcome: 'denied', decided_by: 'person' },
      'xx bad',
      /Denied\. Applied at [\d:]+\.$/,
    ],
    [
      'answered by Core',
      'Deny',
      { decided_by: 'core' },
      'tick',
      /Already answered by Core\. Allowed\. Applied at .+ Your answer was not applied\.$/,
    ],
    [
      'withdrawn',
      null,
      { outcome: 'withdrawn', decided_by: 'harness' },
      'minus',
      /Withdrawn\. The agent took the request back\. Nothing was allowed or denied\.$/,
    ],
    [
      'expired',
      null,
      { outcome: 'expired' },
      'hour',
      /Expired\. .*The agent was told that nobody answered, not that you denied\.$/,
    ],
    [
      'unknown',
      'Allow once',
      { outcome: 'unknown' },
      'dash',
      /Outcome unknown\. Your answer was written, but the agent did not confirm it\. It will not be sent again\.$/,
    ],
  ] as const)('%s takes the place of the card in one line', async (_, answer, entry, drawn, words) => {
    const window = await asked();
    if (answer !== null) await click(within(card()).getByRole('button', { name: answer }));
    await window.next(decided(entry));
    expect(textOf(card())).toMatch(words);
    expect(markOf(card())).toBe(drawn);
    expect(card().querySelector('button')).toBeNull();
  });

  test('denied with a reason says that the agent was told', async () => {
    const window = await open({ interactions: [prompts.command, prompts.chained] }, '#/prompt/p-command');
    await window.readToTheEnd();
    await window.wait(1_000);
    await press('Deny with reason…');
    const field = screen.getByRole('textbox', { name: 'Reason, told to the agent' });
    await act(async () => void fireEvent.change(field, { target: { value: 'Not now.' } }));
    await window.wait(1_000);
    await press('Deny with this reason');
    await window.next(decided({ outcome: 'denied', decided_by: 'person' }));
    expect(textOf(document.querySelector('.bar .recent'))).toMatch(
      /Denied\. Applied at [\d:]+\. The agent was told your reason\.$/,
    );
  });
});

describe('banners, health, dialogue', () => {
  const item = (
    code: string,
    severity: 'error' | 'warning',
    text: string,
    next: string,
  ): View['health'][number] => ({
    ...{ code, severity, since: ago(60), text, next },
  });

  test('no tray: amber, says what closing does, and leads to more', async () => {
    const text = 'This desktop shows no tray icon, so closing the window only minimises it.';
    const window = await open({ health: [item('no_tray', 'warning', text, 'Start the app again.')] });
    const banner = document.querySelector('.banner');
    expect(banner?.className).toBe('banner warn');
    expect(banner === null ? '' : markOf(banner)).toBe('bang warn');
    expect(textOf(banner)).toContain(text);
    await press('More');
    expect(window.services.router.get()).toEqual({ screen: 'doctor' });
    expect(document.querySelector('.banner')).toBeNull();
    expect(screen.getAllByText(text)).toHaveLength(1);
  });

  test('a full disk: red, said at once, and before anything else', async () => {
    await open({
      health: [
        item('no_tray', 'warning', 'No tray.', ''),
        item('disk_full', 'error', 'The disk is full.', 'Free some space.'),
      ],
    });
    expect(document.querySelectorAll('.banner')).toHaveLength(1);
    expect(document.querySelector('.banner')?.className).toBe('banner bad');
    expect(textOf(document.querySelector('.banner'))).toContain('The disk is full. Free some space.');
  });

  test('a health item: mark, what was measured, what to do, and one button to check again', async () => {
    await renderWindow(scenario('doctor'));
    const finding = [...document.querySelectorAll<HTMLElement>('.set, .harn, li')].find((each) =>
      textOf(each).includes('It is 11 minutes ahead of core.example.com.'),
    );
    if (finding === undefined) throw new Error('no finding on the clock');
    expect(markOf(finding)).toBe('bang warn');
    expect(textOf(finding)).toContain('Turn on automatic time in the system settings, then');
    expect(buttonNamed('Check again')).toBeTruthy();
  });

  test('stop: names how many, Go back has the focus, Esc ends nothing', async () => {
    const window = await open({ turns: [turns.plan] }, '#/settings/general');
    await press('Stop now…');
    const dialog = within(screen.getByRole('dialog', { name: 'End 1 Turn now?' }));
    expect(document.activeElement).toBe(dialog.getByRole('button', { name: 'Go back' }));
    expect(dialog.getByRole('button', { name: 'End 1 Turn' }).className).toContain('danger');
    await click(dialog.getByRole('button', { name: 'Go back' }));
    expect(window.calls.filter(({ name }) => name === 'runtime.stop')).toEqual([]);
  });

  test('remove: says what goes and what stays, Go back has the focus', async () => {
    const window = await renderWindow(scenario('home-states'));
    await press('Remove retired…');
    const dialog = screen.getByRole('dialog', { name: 'Remove retired?' });
    expect(document.activeElement).toBe(buttonNamed('Go back', dialog));
    expect(textOf(dialog)).toContain(
      'deletes its credential and its rules here. The folder and the history stay.',
    );
    await press('Go back');
    expect(window.calls.filter(({ name }) => name === 'binding.remove')).toEqual([]);
  });
});

test('a prompt that Core alone answers is shown, counts nowhere as one that needs the person, and names no rule', async () => {
  const both = { interactions: [prompts.coreOnly, prompts.command] };
  await open(both);
  expect(document.title).toMatch(/^1 prompt/);
  expect(screen.getByRole('heading', { level: 1, name: '1 prompt needs you' })).toBeDefined();
  expect(document.body.textContent).toContain('Core answers');
  document.body.replaceChildren();
  await open(both, `#/prompt/${prompts.coreOnly.id}`);
  expect(document.body.textContent).not.toMatch(/are always asked/);
});

test('what can be typed into a terminal is drawn as such, in Doctor and in the banner', async () => {
  const item = {
    code: 'no_agent',
    severity: 'error',
    since: new Date().toISOString(),
    text: 'No agent was found on this machine.',
    next: 'Install Claude Code and sign in with `claude auth login`, or try the demo agent.',
  } as const;
  await open({ health: [item] });
  expect(textOf(document.querySelector('.banner code'))).toBe('claude auth login');
  expect(textOf(document.querySelector('.banner'))).not.toContain('`');
});

test('settings do not speak of a tray that is not there', async () => {
  const item = {
    code: 'no_tray',
    severity: 'warning',
    since: new Date().toISOString(),
    text: 'This desktop shows no tray icon, so closing the window only minimises it.',
    next: '',
  } as const;
  await open({ health: [item] }, '#/settings/general');
  expect(screen.getByText(/without a tray icon on this desktop it is only minimised/)).toBeDefined();
  expect(screen.queryByText(/goes on in the tray/)).toBeNull();
});
