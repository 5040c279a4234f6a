// @vitest-environment happy-dom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import type { View } from '../../../src/contract/view.ts';
import { longJournal, planJournal } from '../../support/renderer-fixture/sample-journals.ts';
import {
  ago,
  cleanup,
  interaction,
  localBinding,
  prompts,
  turns,
  view,
} from '../../support/renderer-fixture/samples.ts';
import { harnesses } from '../../support/renderer-fixture/sample-agents.ts';
import { scenarios, type Scenario } from '../../support/renderer-fixture/scenarios.ts';
import { buttonNamed, renderWindow, type TestWindow } from '../../support/render-window.tsx';

const open = (over: Partial<View> = {}, hash = '#/', rest: Partial<Scenario> = {}): Promise<TestWindow> =>
  renderWindow({ view: view(over), hash, ...rest });
const called = (window: TestWindow, name: string): readonly unknown[] =>
  window.calls.filter((call) => call.name === name).map((call) => call.request);
const click = (element: Element): Promise<void> => act(async () => void fireEvent.click(element));
const button = buttonNamed;
const press = (name: string | RegExp): Promise<void> => click(button(name));
const keyDown = (init: KeyboardEventInit, target: Element | Document = document.body): Promise<void> =>
  act(async () => void fireEvent.keyDown(target, init));

test.each(Object.entries(scenarios))(
  'the state "%s" is drawn with its landmarks, no unnamed control, no doubled id and no style of its own',
  async (_, scenario) => {
    const window = await renderWindow(scenario === scenarios['turn-ended'] ? endedTurn : scenario);
    if (scenario.then) await window.next(scenario.then);
    expect(document.querySelectorAll('nav[aria-label="Main"], main')).toHaveLength(2);
    for (const control of document.querySelectorAll('button, a, [role="img"]')) {
      expect(
        (control.getAttribute('aria-label') ?? control.textContent ?? '').trim(),
        control.outerHTML,
      ).not.toBe('');
    }
    expect(document.querySelector('[style]')).toBeNull();
    const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
    expect(new Set(ids).size).toBe(ids.length);
  },
);

describe('questions', () => {
  const form = (): ReturnType<typeof within> => within(screen.getByRole('form'));
  const secret = (): HTMLInputElement => {
    const field = document.querySelector<HTMLInputElement>('.secret input');
    if (field === null) throw new Error('no secret field');
    return field;
  };
  const fill = async (): Promise<void> => {
    await click(form().getByLabelText(/^Postgres in a container/));
    await click(form().getByLabelText('Broken rows'));
    await click(form().getByLabelText('Duplicate files'));
    await act(async () => void fireEvent.change(secret(), { target: { value: 'hunter2' } }));
  };

  test('what is sent has the shape of the contract: question id to labels or text', async () => {
    const window = await open({}, '#/prompt/p-question');
    await window.wait(600);
    await fill();
    expect(screen.getByText('3 of 3 answered')).toBeTruthy();
    await press('Send answers');
    expect(window.answers()).toEqual([
      {
        id: 'p-question',
        answer: {
          kind: 'answers',
          answers: {
            db: ['Postgres in a container'],
            cases: ['Broken rows', 'Duplicate files'],
            token: ['hunter2'],
          },
        },
      },
    ]);
  });

  test('typing an own text chooses it; an unanswered question is left out', async () => {
    const window = await open({}, '#/prompt/p-question');
    await window.wait(600);
    await act(
      async () =>
        void fireEvent.change(form().getByLabelText('Your own answer'), { target: { value: 'MariaDB' } }),
    );
    expect(screen.getByText('1 of 3 answered')).toBeTruthy();
    await press('Send answers');
    expect(window.answers()).toEqual([
      { id: 'p-question', answer: { kind: 'answers', answers: { db: ['MariaDB'] } } },
    ]);
  });

  test('with nothing answered Send refuses and says why; Enter in a field sends nothing', async () => {
    const window = await open({}, '#/prompt/p-question');
    await window.wait(600);
    expect(button('Send answers').getAttribute('aria-disabled')).toBe('true');
    await press('Send answers');
    await fill();
    await act(async () => {
      fireEvent.keyDown(secret(), { key: 'Enter' });
      fireEvent.submit(screen.getByRole('form'));
    });
    expect(window.answers()).toEqual([]);
  });

  test('Ctrl+Enter sends, but not in the first 500 ms after the focus came in', async () => {
    const window = await open({}, '#/prompt/p-question');
    await window.wait(600);
    await fill();
    await act(async () => secret().focus());
    await keyDown({ key: 'Enter', ctrlKey: true }, secret());
    expect(window.answers()).toEqual([]);
    await window.wait(500);
    await keyDown({ key: 'Enter', ctrlKey: true }, secret());
    expect(window.answers()).toHaveLength(1);
  });

  test('declining is an answer of its own, Later is none', async () => {
    const window = await open({}, '#/prompt/p-question');
    await window.wait(600);
    await press('Later');
    expect(window.answers()).toEqual([]);
    await act(async () => window.services.router.go({ screen: 'prompt', id: 'p-question' }));
    await window.wait(600);
    await press('Decline to answer');
    expect(window.answers()).toEqual([{ id: 'p-question', answer: { kind: 'cancel' } }]);
  });

  test('what was chosen is still there after a look elsewhere, a secret is not', async () => {
    const window = await open({}, '#/prompt/p-question');
    await fill();
    await act(async () => window.services.router.go({ screen: 'home' }));
    await act(async () => window.services.router.go({ screen: 'prompt', id: 'p-question' }));
    expect((form().getByLabelText(/^Postgres in a container/) as HTMLInputElement).checked).toBe(true);
    expect(secret().value).toBe('');
    expect(screen.getByText('2 of 3 answered')).toBeTruthy();
  });

  test('a secret is in no state, no draft, no attribute and no text, and leaves its field when it was sent', async () => {
    const window = await open({}, '#/prompt/p-question');
    await window.wait(600);
    await fill();
    expect(JSON.stringify(window.services.desk.drafts('p-question'))).not.toContain('hunter2');
    expect(document.documentElement.outerHTML).not.toContain('hunter2');
    expect(secret().type).toBe('password');
    expect(secret().autocomplete).toBe('off');
    await press('Send answers');
    expect(secret().value).toBe('');
  });

  test('a secret is shown only while its eye is on', async () => {
    await open({}, '#/prompt/p-question');
    await press('Show the secret');
    expect(secret().type).toBe('text');
    await press('Show the secret');
    expect(secret().type).toBe('password');
  });

  test('a question without options takes an own text', async () => {
    const free = interaction({
      id: 'q',
      kind: 'user_choice',
      subject: { kind: 'question' },
      questions: [{ id: 'why', question: 'Why?', options: [] }],
    });
    const window = await open({ interactions: [free] }, '#/prompt/q');
    await window.wait(600);
    await act(
      async () =>
        void fireEvent.change(screen.getByRole('textbox', { name: 'Why?' }), {
          target: { value: 'Because.' },
        }),
    );
    await press('Send answers');
    expect(window.answers()).toEqual([
      { id: 'q', answer: { kind: 'answers', answers: { why: ['Because.'] } } },
    ]);
  });
});

describe('the first run', () => {
  const fresh = (agents = localBinding().harnesses): Partial<View> => ({
    bindings: [localBinding({ harnesses: agents })],
    turns: [],
    interactions: [],
    cleanup: [],
    history: [],
  });

  test('two clicks start a Turn with the first agent that is ready', async () => {
    const window = await open(fresh());
    await press('Explain this folder');
    await press('Start Turn');
    expect(called(window, 'turn.start')).toEqual([
      { prompt: expect.stringMatching(/^Explain this folder/), harness: 'claude_sdk' },
    ]);
    expect(window.services.router.get()).toEqual({ screen: 'turn', runId: 'run-plan' });
  });

  test('the demo is chosen by its suggestion and says what it is', async () => {
    const window = await open(fresh());
    await press(/Try the demo agent/);
    expect(
      screen.getByText('No model. Streams text, asks one permission and one question, writes one file.'),
    ).toBeTruthy();
    await press('Start Turn');
    expect(called(window, 'turn.start')).toMatchObject([{ harness: 'demo' }]);
  });

  test('without a task nothing starts and the field has the focus', async () => {
    const window = await open(fresh());
    await press('Start Turn');
    expect(called(window, 'turn.start')).toEqual([]);
    expect(document.activeElement).toBe(screen.getByLabelText('Task'));
  });

  test('Enter writes a line, Ctrl+Enter starts', async () => {
    const window = await open(fresh());
    const field = screen.getByLabelText('Task');
    await act(async () => void fireEvent.change(field, { target: { value: 'Do it' } }));
    await keyDown({ key: 'Enter' }, field);
    expect(called(window, 'turn.start')).toEqual([]);
    await keyDown({ key: 'Enter', ctrlKey: true }, field);
    expect(called(window, 'turn.start')).toEqual([{ prompt: 'Do it', harness: 'claude_sdk' }]);
  });

  test('with no agent ready it says why and starts nothing', async () => {
    const window = await open(fresh([harnesses.notes]));
    await press('Explain this folder');
    await press('Start Turn');
    expect(called(window, 'turn.start')).toEqual([]);
    expect(screen.getAllByText('No agent is ready.').length).toBeGreaterThan(0);
    expect(screen.getByText(/no account is signed in/)).toBeTruthy();
  });
});

describe('getting around', () => {
  test('Ctrl+1 to 5, Ctrl+comma and Ctrl+N', async () => {
    const window = await open();
    for (const [key, route] of [
      ['2', { screen: 'turns' }],
      ['3', { screen: 'history' }],
      ['4', { screen: 'doctor' }],
      ['5', { screen: 'settings', tab: 'bindings' }],
      ['1', { screen: 'home' }],
      [',', { screen: 'settings', tab: 'bindings' }],
      ['n', { screen: 'compose' }],
    ] as const) {
      await keyDown({ key, ctrlKey: true });
      expect(window.services.router.get()).toEqual(route);
    }
    expect(document.activeElement).toBe(screen.getByLabelText('Task'));
  });

  test('F6 goes to the oldest prompt and puts the focus on its heading, Shift+F6 goes back', async () => {
    const window = await open({}, '#/turns');
    await keyDown({ key: 'F6' });
    expect(window.services.router.get()).toEqual({ screen: 'prompt', id: 'p-command' });
    expect(document.activeElement?.textContent).toBe('Run a command');
    await keyDown({ key: 'F6', shiftKey: true });
    expect(window.services.router.get()).toEqual({ screen: 'turns' });
  });

  test('what the tray asks for is shown, and decides nothing', async () => {
    const window = await open();
    await act(async () => window.show({ screen: 'prompt', id: 'p-diff' }));
    expect(window.services.router.get()).toEqual({ screen: 'prompt', id: 'p-diff' });
    expect(window.answers()).toEqual([]);
  });

  test('the title and the badge say how many prompts wait', async () => {
    await open();
    expect(document.title).toBe('4 prompts need you · Home · Agent Runtime');
    expect(within(screen.getByRole('navigation')).getByText('4 prompts need you')).toBeTruthy();
  });

  test('settings tabs move with the arrow keys', async () => {
    const window = await open({}, '#/settings/bindings');
    await keyDown({ key: 'ArrowRight' }, screen.getByRole('tab', { name: 'Bindings' }));
    expect(window.services.router.get()).toEqual({ screen: 'settings', tab: 'agents' });
    expect(document.activeElement).toBe(screen.getByRole('tab', { name: 'Agents' }));
  });
});

/** The ended Turn of the pictures with a short journal: drawing thousands of blocks belongs to a real engine. */
const endedTurn: Scenario = {
  view: view(),
  hash: '',
  ...scenarios['turn-ended'],
  journals: { h1: longJournal(60) },
};

describe('a Turn', () => {
  const rest = { journals: { 'run-plan': planJournal } };

  test('draws its journal and reads only what is new with the next view', async () => {
    const journal = [...planJournal];
    const window = await open({}, '#/turns/run-plan', { journals: { 'run-plan': journal } });
    expect(screen.getByText(/lock is taken per file name/)).toBeTruthy();
    journal.push({
      n: journal.length,
      at: ago(1),
      kind: 'text',
      message_id: 'm3',
      text: ', which is the bug.',
    });
    await window.next(view({ revision: 2, turns: [{ ...turns.plan, entries: journal.length }] }));
    expect(
      screen.getByText('The lock is taken per file name, not per batch, which is the bug.'),
    ).toBeTruthy();
    expect(called(window, 'turn.read').at(-1)).toMatchObject({ after: planJournal.length - 1 });
  });

  test('steering is sent once and its receipt comes from the stream', async () => {
    const window = await open({}, '#/turns/run-plan', rest);
    const field = screen.getByLabelText('Steer this Turn');
    await act(async () => void fireEvent.change(field, { target: { value: 'Also the retries.' } }));
    await keyDown({ key: 'Enter', ctrlKey: true }, field);
    await window.wait(0);
    expect(called(window, 'turn.steer')).toEqual([{ run_id: 'run-plan', text: 'Also the retries.' }]);
    expect((field as HTMLTextAreaElement).value).toBe('');
  });

  test('Stop asks first: Go back has the focus and ends nothing', async () => {
    const window = await open({}, '#/turns/run-plan', rest);
    await keyDown({ key: '.', ctrlKey: true });
    const dialog = within(screen.getByRole('dialog'));
    expect(document.activeElement).toBe(dialog.getByRole('button', { name: 'Go back' }));
    await click(dialog.getByRole('button', { name: 'Go back' }));
    expect(called(window, 'turn.cancel')).toEqual([]);
    await press('Stop');
    await click(within(screen.getByRole('dialog')).getByRole('button', { name: 'End this Turn' }));
    expect(called(window, 'turn.cancel')).toEqual([{ run_id: 'run-plan' }]);
  });

  test('a Turn of another Core can be neither stopped nor steered here', async () => {
    await open({}, '#/turns/run-ledger');
    expect(screen.queryByRole('button', { name: 'Stop' })).toBeNull();
    expect(screen.queryByLabelText('Steer this Turn')).toBeNull();
  });

  test('its prompt is a link in the stream while it waits', async () => {
    await open({}, '#/turns/run-plan', rest);
    expect(screen.getByRole('link', { name: /Asks 3 questions/ }).getAttribute('href')).toBe(
      '#/prompt/p-question',
    );
  });

  test('an ended one is gone on with in its own Session', async () => {
    const window = await renderWindow(endedTurn);
    const field = await screen.findByLabelText('Go on from here');
    await act(async () => void fireEvent.change(field, { target: { value: 'And now fix them.' } }));
    await press('Start Turn');
    expect(called(window, 'turn.start')).toEqual([
      { prompt: 'And now fix them.', session_id: 'session-1', harness: 'claude_sdk' },
    ]);
  });

  test('the last 200 lines of an output are shown, all of them on request', async () => {
    const window = await renderWindow(endedTurn);
    await window.wait(0);
    const calls = document.querySelectorAll<HTMLDetailsElement>('details.tool');
    const last = calls[calls.length - 1];
    if (last === undefined) throw new Error('no tool call');
    await act(async () => {
      last.open = true;
      fireEvent(last, new Event('toggle'));
    });
    expect(last.textContent).toContain('line 4102: checked');
    expect(last.textContent).not.toContain('line 3902: checked');
    await click(within(last).getByText('Show all 4,102 lines'));
    expect(last.textContent).toContain('line 1: checked');
  });
});

describe('what the person can do elsewhere', () => {
  test('pause and resume', async () => {
    const window = await open();
    await press('Pause: take no new work');
    expect(called(window, 'runtime.pause')).toEqual([{}]);
    expect(screen.getByText('Paused. No new work is taken.')).toBeTruthy();
    await window.next(view({ revision: 2, runtime: { ...view().runtime, state: 'paused' } }));
    await click(within(screen.getByRole('navigation')).getByRole('button', { name: 'Resume' }));
    expect(called(window, 'runtime.resume')).toEqual([{}]);
  });

  test('try a lost connection now', async () => {
    const window = await open();
    await press('Try now');
    expect(called(window, 'connection.retry')).toEqual([{ binding: 'docs-site' }]);
  });

  test('cleanup: try again says what came of it, and recording as gone asks', async () => {
    const window = await open();
    await press('Try again');
    expect(called(window, 'cleanup.retry')).toEqual([{ id: cleanup.id }]);
    expect(screen.getByText('Not confirmed. It is still there.')).toBeTruthy();
    await press('Details');
    expect(screen.getByText('48213')).toBeTruthy();
    await press('Record as gone…');
    expect(called(window, 'cleanup.force')).toEqual([]);
    await click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Record as gone' }));
    expect(called(window, 'cleanup.force')).toEqual([{ id: cleanup.id }]);
  });

  test('stop now names how many Turns it ends and asks', async () => {
    const window = await open({}, '#/settings/general');
    await press('Stop now…');
    const dialog = within(screen.getByRole('dialog', { name: 'End 3 Turns now?' }));
    expect(
      dialog.getByText(
        'Their work up to here stays in the folder. Each is shown until its end is confirmed.',
      ),
    ).toBeTruthy();
    expect(called(window, 'runtime.stop')).toEqual([]);
    await click(dialog.getByRole('button', { name: 'End 3 Turns' }));
    expect(called(window, 'runtime.stop')).toEqual([{ mode: 'now' }]);
  });

  test('settings are changed one by one and shown as the daemon took them', async () => {
    const window = await open({}, '#/settings/general');
    await click(screen.getByRole('switch', { name: 'Keep the machine awake while a Turn runs' }));
    expect(called(window, 'settings.set')).toEqual([{ keep_awake: false }]);
    await act(
      async () =>
        void fireEvent.change(screen.getByRole('combobox', { name: 'Theme' }), { target: { value: 'dark' } }),
    );
    expect(called(window, 'settings.set').at(-1)).toEqual({ theme: 'dark' });
    expect(document.documentElement.dataset['theme']).toBe('dark');
  });

  test('another language is spoken at once, kept for the next first paint, and keeps the place', async () => {
    const window = await open({}, '#/settings/general');
    const choose = (value: string): Promise<void> =>
      act(async () => {
        fireEvent.change(document.querySelector('#select-language') ?? document, { target: { value } });
        await new Promise(requestAnimationFrame);
      });
    await choose('de');
    expect(called(window, 'settings.set')).toEqual([{ language: 'de' }]);
    expect(screen.getByRole('heading', { name: 'Einstellungen' })).toBeTruthy();
    expect(document.documentElement.lang).toBe('de');
    expect(localStorage.getItem('agent-runtime.language')).toBe('de');
    expect(document.activeElement?.id).toBe('select-language');
    expect(document.title).toContain('Einstellungen');
    await choose('system');
    expect(screen.getByRole('heading', { name: 'Settings' })).toBeTruthy();
    expect(document.documentElement.lang).toBe('en');
  });

  test('the choices without a credential store', async () => {
    const window = await renderWindow(scenarios['home-states'] ?? { view: view(), hash: '' });
    await press('Keep it in memory for this run…');
    expect(called(window, 'credentials.choose')).toEqual([{ choice: 'memory' }]);
  });

  test('the doctor runs when one looks at it, and again on request', async () => {
    const window = await renderWindow(scenarios['doctor'] ?? { view: view(), hash: '' });
    expect(screen.getByText('4 things to look at')).toBeTruthy();
    await press('Check again');
    expect(called(window, 'doctor.run')).toHaveLength(2);
  });

  test('history is found by words and filtered', async () => {
    await open({}, '#/history');
    await keyDown({ key: '/' });
    expect(document.activeElement).toBe(screen.getByLabelText('Search history'));
    await act(
      async () =>
        void fireEvent.change(screen.getByLabelText('Search history'), { target: { value: 'changelog' } }),
    );
    expect(document.querySelectorAll('.h-row')).toHaveLength(1);
    await act(
      async () =>
        void fireEvent.change(screen.getByLabelText('Search history'), {
          target: { value: 'nothing like it' },
        }),
    );
    expect(screen.getByText('Nothing in history matches.')).toBeTruthy();
  });

  test('a refusal is told in the daemon’s words', async () => {
    const window = await open();
    const call = window.services.link.call.bind(window.services.link);
    Object.assign(window.services.link, {
      call: (name: Parameters<typeof call>[0], request: never) =>
        name === 'runtime.pause' ? Promise.reject(new Error('It is stopping already.')) : call(name, request),
    });
    await press('Pause: take no new work');
    expect(screen.getByText('It is stopping already.')).toBeTruthy();
  });
});

test('a health error is a banner and, for a full disk, said at once', async () => {
  const window = await open();
  await window.next(
    view({
      revision: 2,
      health: [
        {
          code: 'disk_full',
          severity: 'error',
          since: ago(1),
          text: 'The disk is full.',
          next: 'Make room.',
        },
      ],
    }),
  );
  expect(document.querySelector('.banner > span')?.textContent).toBe('The disk is full. Make room.');
  expect(document.getElementById('live-urgent')?.textContent).toBe('The disk is full.');
});

test('a prompt that arrives is announced once, politely', async () => {
  const window = await open({ interactions: [] });
  await window.next(view({ revision: 2, interactions: [prompts.command] }));
  expect(document.getElementById('live')?.textContent).toBe(
    'billing-service needs you. A command. 1 prompt open. F6 to go there.',
  );
});
