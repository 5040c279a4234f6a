// @vitest-environment happy-dom
import { act, fireEvent, screen, within } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import type { InteractionView, View } from '../../../src/contract/view.ts';
import type { HistoryEntry } from '../../../src/contract/history.ts';
import { ago, interaction, prompts, view } from '../../support/renderer-fixture/samples.ts';
import { buttonNamed, renderWindow, type TestWindow } from '../../support/render-window.tsx';

const button = buttonNamed;
const press = (name: string): void => void fireEvent.click(button(name));
const heading = (): HTMLElement => screen.getByRole('heading', { level: 2, name: 'Run a chained command' });
const key = (target: Element, key: string, over: Partial<KeyboardEventInit> = {}): boolean =>
  fireEvent.keyDown(target, { key, ...over });
const ctrl = (target: Element, name: string, over: Partial<KeyboardEventInit> = {}): boolean =>
  key(target, name, { ctrlKey: true, ...over });

const open = (over: Partial<View> = {}, hash = '#/prompt/p-chained'): Promise<TestWindow> =>
  renderWindow({ view: view(over), hash });
const ended = (id: string, over: Partial<HistoryEntry>): View =>
  view({
    revision: 2,
    interactions: view().interactions.filter((one) => one.id !== id),
    history: [
      ...view().history,
      {
        kind: 'permission',
        id,
        run_id: 'run-ledger',
        binding: 'billing-service',
        harness: 'claude_sdk',
        title: 'Run a command',
        at: ago(0),
        outcome: 'allowed',
        decided_by: 'person',
        detail: null,
        ...over,
      },
    ],
  });

/** A prompt that was read, has been there for long enough and has the focus inside. */
async function ready(window: TestWindow): Promise<void> {
  await window.readToTheEnd();
  await act(async () => heading().focus());
  await window.wait(500);
}

describe('the first 500 ms', () => {
  test('no click and no key decides', async () => {
    const window = await open();
    await window.readToTheEnd();
    act(() => heading().focus());
    await window.wait(499);
    press('Allow once');
    press('Deny');
    ctrl(heading(), 'y');
    ctrl(heading(), 'd');
    expect(window.answers()).toEqual([]);
    await window.wait(1);
    press('Deny');
    expect(window.answers()).toEqual([{ id: 'p-chained', answer: { kind: 'deny' } }]);
  });

  test('the buttons look usual meanwhile', async () => {
    const window = await open();
    await window.readToTheEnd();
    expect(button('Allow once').getAttribute('aria-disabled')).toBeNull();
    expect(button('Deny').getAttribute('aria-disabled')).toBeNull();
  });

  test('a prompt that was known before is quiet again when it comes on screen', async () => {
    const window = await open();
    await window.wait(5_000);
    await act(async () => window.services.router.go({ screen: 'prompt', id: 'p-diff' }, 'heading'));
    press('Deny');
    expect(window.answers()).toEqual([]);
  });

  test('a double click answers one prompt, not the one that takes its place', async () => {
    const window = await open();
    await ready(window);
    press('Deny');
    await window.next(ended('p-chained', { outcome: 'denied' }));
    press('Deny');
    expect(window.answers()).toHaveLength(1);
  });

  test('a key pressed when the focus has just come in decides nothing', async () => {
    const window = await open();
    await window.readToTheEnd();
    await window.wait(5_000);
    act(() => heading().focus());
    await window.wait(499);
    ctrl(heading(), 'y');
    expect(window.answers()).toEqual([]);
    await window.wait(1);
    ctrl(heading(), 'y');
    expect(window.answers()).toEqual([{ id: 'p-chained', answer: { kind: 'allow', scope: 'once' } }]);
  });
});

describe('keys', () => {
  test('the four shortcuts act inside the prompt', async () => {
    for (const [name, shiftKey, answer] of [
      ['y', false, { kind: 'allow', scope: 'once' }],
      ['Y', true, { kind: 'allow', scope: 'turn' }],
      ['d', false, { kind: 'deny' }],
    ] as const) {
      const window = await open();
      await ready(window);
      ctrl(heading(), name, { shiftKey });
      expect(window.answers()).toEqual([{ id: 'p-chained', answer }]);
    }
  });

  test('Ctrl+Shift+D opens the reason, Ctrl+Enter in it denies with it', async () => {
    const window = await open();
    await ready(window);
    ctrl(heading(), 'D', { shiftKey: true });
    expect(window.answers()).toEqual([]);
    const field = screen.getByLabelText('Reason, told to the agent');
    fireEvent.change(field, { target: { value: 'Keep the old name.' } });
    ctrl(field, 'd');
    ctrl(field, 'y');
    expect(window.answers()).toEqual([]);
    ctrl(field, 'Enter');
    expect(window.answers()).toEqual([
      { id: 'p-chained', answer: { kind: 'deny', message: 'Keep the old name.' } },
    ]);
  });

  test('none acts from elsewhere', async () => {
    const window = await open();
    await ready(window);
    await act(async () => heading().blur());
    for (const target of [
      document.body,
      document,
      screen.getByRole('navigation'),
      button('Previous prompt'),
    ]) {
      for (const name of ['y', 'd', 'Enter', ' ', '1']) {
        fireEvent.keyDown(target, { key: name, ctrlKey: true });
        fireEvent.keyDown(target, { key: name });
      }
    }
    expect(window.answers()).toEqual([]);
  });

  test('Enter, Space, digits and single letters decide nothing, wherever the focus is', async () => {
    const window = await open();
    await ready(window);
    for (const name of ['Enter', ' ', '1', 'a', 'y', 'd']) key(heading(), name);
    expect(window.answers()).toEqual([]);
  });

  test('a held key, AltGr and a key of an input method are ignored', async () => {
    const window = await open();
    await ready(window);
    ctrl(heading(), 'd', { repeat: true });
    ctrl(heading(), 'd', { altKey: true });
    ctrl(heading(), 'd', { isComposing: true });
    expect(window.answers()).toEqual([]);
  });

  test('Esc is Later: back to Home with nothing decided', async () => {
    const window = await open();
    await ready(window);
    key(heading(), 'Escape');
    expect(window.services.router.get()).toEqual({ screen: 'home' });
    expect(window.answers()).toEqual([]);
  });

  test('Ctrl+J shows the raw form, Alt+arrows go to the neighbours', async () => {
    const window = await open();
    await ready(window);
    await act(async () => void ctrl(heading(), 'j'));
    expect(button('Raw JSON').getAttribute('aria-pressed')).toBe('true');
    expect(document.querySelector('.code')?.textContent).toContain('\\u202e');
    await act(async () => void key(heading(), 'ArrowDown', { altKey: true }));
    expect(window.services.router.get()).toEqual({ screen: 'prompt', id: 'p-diff' });
  });

  test('every shortcut is on its button', async () => {
    await open();
    expect(
      ['Allow once', 'Allow for this Turn', 'Deny', 'Deny with reason…', 'Later'].map((name) =>
        button(name).getAttribute('aria-keyshortcuts'),
      ),
    ).toEqual(['Control+Y', 'Control+Shift+Y', 'Control+D', 'Control+Shift+D', 'Escape']);
  });
});

describe('unread input', () => {
  test('Allow refuses and says why, Deny does not', async () => {
    const window = await open();
    act(() => heading().focus());
    await window.wait(1_000);
    expect(button('Allow once').getAttribute('aria-disabled')).toBe('true');
    expect(screen.getByText('Allow opens when the end of the command has been on screen.')).toBeTruthy();
    press('Allow once');
    press('Allow for this Turn');
    ctrl(heading(), 'y');
    expect(window.answers()).toEqual([]);
    press('Deny');
    expect(window.answers()).toHaveLength(1);
  });

  test('the explanation is reachable from the button', async () => {
    await open();
    const id = button('Allow once').getAttribute('aria-describedby') ?? '';
    expect(document.getElementById(id)?.textContent).toBe('Allow opens when the end has been on screen.');
  });

  test('the end does not count while the window cannot be seen', async () => {
    const window = await open();
    const visibility = Object.getOwnPropertyDescriptor(Document.prototype, 'visibilityState');
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' });
    await window.readToTheEnd();
    expect(button('Allow once').getAttribute('aria-disabled')).toBe('true');
    Reflect.deleteProperty(document, 'visibilityState');
    if (visibility) Object.defineProperty(Document.prototype, 'visibilityState', visibility);
  });

  test('what cannot be shown cannot be allowed, by no button and no key', async () => {
    const window = await open({ interactions: [prompts.unshowable] }, '#/prompt/p-unshowable');
    await window.readToTheEnd();
    const title = screen.getByRole('heading', { level: 2, name: 'Change 1 file' });
    act(() => title.focus());
    await window.wait(1_000);
    expect(screen.queryByRole('button', { name: 'Allow once' })).toBeNull();
    ctrl(title, 'y');
    expect(window.answers()).toEqual([]);
  });
});

describe('after the answer', () => {
  test('the buttons lock and say that it is being sent; nothing is sent twice', async () => {
    const window = await open();
    await ready(window);
    press('Allow once');
    press('Allow once');
    press('Deny');
    ctrl(heading(), 'd');
    await window.wait(0);
    expect(window.answers()).toHaveLength(1);
    expect(screen.getAllByText('Sending your answer').length).toBeGreaterThan(0);
    expect(button('Deny').getAttribute('aria-disabled')).toBe('true');
    await window.wait(5_000);
    expect(screen.getByText(/^Not yet confirmed/)).toBeTruthy();
  });

  test('only the view marks it decided: until then the prompt stays', async () => {
    const window = await open();
    await ready(window);
    press('Deny');
    await window.wait(60_000);
    expect(heading()).toBeTruthy();
    await window.next(
      view({
        revision: 2,
        interactions: view().interactions.map((one) =>
          one.id === 'p-chained' ? { ...one, state: 'deciding' as const } : one,
        ),
      }),
    );
    expect(heading()).toBeTruthy();
  });

  test('then the next prompt is shown, its heading has the focus and its buttons are quiet', async () => {
    const window = await open();
    await ready(window);
    press('Deny');
    await window.next(ended('p-chained', { outcome: 'denied' }));
    expect(window.services.router.get()).toEqual({ screen: 'prompt', id: 'p-diff' });
    expect(document.activeElement?.textContent).toBe('Change 2 files');
    expect(document.querySelector('.bar .recent')?.textContent).toMatch(/^Denied\. Applied at/);
    await window.wait(4_000);
    expect(document.querySelector('.bar .recent')).toBeNull();
  });

  test('a window that loses with the same answer does not call it its own', async () => {
    const window = await renderWindow({ view: view(), hash: '#/prompt/p-chained', loses: true });
    await ready(window);
    press('Allow once');
    await window.next(ended('p-chained', {}));
    expect(document.body.textContent).not.toContain('Allowed once.');
    expect(screen.getAllByText(/^Already answered in another place\. Allowed\./)[0]?.textContent).toMatch(
      /Your answer was not applied\.$/,
    );
  });

  test('with none left it goes Home', async () => {
    const window = await open({ interactions: [prompts.chained] });
    await ready(window);
    press('Deny');
    await window.next({ ...ended('p-chained', { outcome: 'denied' }), interactions: [] });
    expect(window.services.router.get()).toEqual({ screen: 'home' });
    expect(document.activeElement?.textContent).toBe('Nothing needs you');
  });

  test('a definite no opens the buttons again with its words', async () => {
    const scenario = { view: view(), hash: '#/prompt/p-chained' };
    const window = await renderWindow(scenario);
    await ready(window);
    const call = window.services.link.call.bind(window.services.link);
    Object.assign(window.services.link, {
      call: (name: Parameters<typeof call>[0], request: never) =>
        name === 'interaction.answer'
          ? Promise.reject(Object.assign(new Error('Core alone may answer.'), { code: 'answer_refused' }))
          : call(name, request),
    });
    press('Deny');
    await window.wait(0);
    expect(screen.getByText('Your answer was not taken. Core alone may answer.')).toBeTruthy();
    expect(button('Deny').getAttribute('aria-disabled')).toBeNull();
  });
});

describe('prompts that leave', () => {
  test('withdrawn: the sentence takes its place, no button of another prompt slips under the pointer', async () => {
    const window = await open();
    await ready(window);
    await window.next(ended('p-chained', { outcome: 'withdrawn', decided_by: 'harness' }));
    expect(screen.queryByRole('button', { name: 'Allow once' })).toBeNull();
    expect(
      screen.getByText('Withdrawn. The agent took the request back. Nothing was allowed or denied.', {
        selector: 'article p',
      }),
    ).toBeTruthy();
    expect(document.getElementById('live')?.textContent).toContain('Withdrawn.');
    ctrl(document.activeElement ?? document.body, 'y');
    expect(window.answers()).toEqual([]);
  });

  test('it leaves by itself 10 s after it was seen', async () => {
    const window = await open();
    await act(async () => window.services.desk.windowFocus(true));
    await window.next(ended('p-chained', { outcome: 'expired', decided_by: null }));
    await window.wait(9_999);
    expect(window.services.router.get()).toEqual({ screen: 'prompt', id: 'p-chained' });
    await window.wait(1);
    expect(window.services.router.get()).toEqual({ screen: 'prompt', id: 'p-diff' });
  });

  test('decided elsewhere: on Home the card is one line that says by whom', async () => {
    const window = await open({}, '#/');
    await window.next(ended('p-command', { decided_by: 'core' }));
    const line = document.querySelector('li[data-prompt="p-command"]');
    expect(line?.textContent).toMatch(/Already answered by Core\. Allowed\. Applied at/);
    expect(line?.querySelector('button')).toBeNull();
  });

  test('an answer that came too late is told not to be applied', async () => {
    const window = await open({}, '#/');
    await window.readToTheEnd();
    await window.wait(600);
    const card = within(screen.getByRole('article', { name: 'Run a command' }));
    fireEvent.click(card.getByRole('button', { name: 'Deny' }));
    await window.next(ended('p-command', { outcome: 'allowed', decided_by: 'core' }));
    expect(document.querySelector('li[data-prompt="p-command"]')?.textContent).toContain(
      'Your answer was not applied.',
    );
  });
});

describe('Home', () => {
  const many = (count: number, offset = 0): readonly InteractionView[] =>
    Array.from({ length: count }, (_, i) =>
      interaction({
        id: `many-${offset + i}`,
        since: ago(500 - offset - i),
        subject: { kind: 'command', command: `npm test -w p${i}`, cwd: null },
      }),
    );

  test('offers Allow only where the whole input is in the card; the others are reviewed', async () => {
    await open({}, '#/');
    const card = within(screen.getByRole('article', { name: 'Run a command' }));
    expect(card.getByRole('button', { name: 'Allow once' })).toBeTruthy();
    for (const name of ['Run a chained command', 'Change 2 files', 'Answer 3 questions']) {
      expect(within(screen.getByRole('article', { name })).queryByRole('button')).toBeNull();
    }
  });

  test('Later folds the card and leaves the prompt pending', async () => {
    const window = await open({}, '#/');
    await window.wait(600);
    await act(async () => press('Later'));
    expect(
      within(screen.getByRole('article', { name: 'Run a command' })).getByRole('link', {
        name: 'Review: Run a command',
      }),
    ).toBeTruthy();
    expect(window.answers()).toEqual([]);
  });

  test('a new prompt takes no focus, does not scroll and goes below the others', async () => {
    const window = await open({ interactions: [prompts.command] }, '#/');
    await act(async () => document.querySelector<HTMLElement>('.btn')?.focus());
    const focus = document.activeElement;
    await window.next(view({ revision: 2, interactions: [prompts.command, ...many(3, 400)] }));
    expect(document.activeElement).toBe(focus);
    expect(
      [...document.querySelectorAll('li[data-prompt]')].map((item) => item.getAttribute('data-prompt')),
    ).toEqual(['p-command', 'many-400', 'many-401', 'many-402']);
  });

  test('typing at full speed into another field while fifty prompts arrive decides nothing', async () => {
    const window = await open({ interactions: [] }, '#/turns/run-plan');
    const field = screen.getByLabelText('Steer this Turn');
    await act(async () => field.focus());
    const text = 'allow y deny d 1 2 3 yes please\n';
    let typed = '';
    for (let i = 0; i < 50; i++) {
      await window.next(view({ revision: 2 + i, interactions: [...many(i + 1)] }));
      await window.readToTheEnd();
      for (const letter of text) {
        const name = letter === '\n' ? 'Enter' : letter;
        fireEvent.keyDown(field, { key: name });
        typed += letter;
        fireEvent.change(field, { target: { value: typed } });
        fireEvent.keyUp(field, { key: name });
      }
      for (const name of ['y', 'd', 'Y', 'D']) ctrl(field, name, { shiftKey: name !== name.toLowerCase() });
      await window.wait(120);
      expect(document.activeElement).toBe(field);
    }
    expect(window.answers()).toEqual([]);
    expect((field as HTMLTextAreaElement).value).toBe(text.repeat(50));
    expect(window.services.router.get()).toEqual({ screen: 'turn', runId: 'run-plan' });
  }, 60_000);

  test('a hundred at once are all there and the title says so', async () => {
    await open({ interactions: [...many(100)] }, '#/');
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('100 prompts need you');
    expect(document.querySelectorAll('li[data-prompt]')).toHaveLength(100);
    expect(screen.getAllByRole('button', { name: 'Allow once' })).toHaveLength(3);
  });
});

describe('a card that moves', () => {
  test('is quiet again for 500 ms: what is now under the pointer is not what was about to be pressed', async () => {
    const first = { ...prompts.command, id: 'first' };
    const second = { ...prompts.command, id: 'second', since: ago(100) };
    const window = await open({ interactions: [first, second] }, '#/');
    // A page without layout has every box at 0: give each item of the queue the place it would have.
    const place = vi.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(function (
      this: Element,
    ) {
      return new DOMRect(0, [...(this.parentElement?.children ?? [])].indexOf(this) * 200, 400, 200);
    });
    await window.readToTheEnd();
    await window.next(view({ revision: 2, interactions: [first, second], health: [] }));
    await window.wait(1_000);
    await window.next({ ...ended('none', {}), interactions: [second] });
    await act(async () => window.services.desk.dismiss('first'));
    const deny = (): void => press('Deny');
    deny();
    expect(window.answers()).toEqual([]);
    await window.wait(500);
    deny();
    expect(window.answers()).toEqual([{ id: 'second', answer: { kind: 'deny' } }]);
    place.mockRestore();
  });
});

describe('without the daemon', () => {
  test('the window says so, keeps what it knew, and sends nothing', async () => {
    const window = await open();
    await ready(window);
    window.close();
    await act(async () => {
      await window.services.link.call('runtime.pause', {}).catch(() => undefined);
    });
    expect(screen.getByText('No connection to the Runtime.')).toBeTruthy();
    expect(heading()).toBeTruthy();
    press('Deny');
    ctrl(heading(), 'd');
    expect(window.answers()).toEqual([]);
    expect(button('Deny').getAttribute('aria-disabled')).toBe('true');
  });

  test('an answer that was under way is locked until a new view tells that it never arrived', async () => {
    const window = await open();
    await ready(window);
    press('Deny');
    window.close();
    await act(async () => {
      await window.services.link.call('runtime.pause', {}).catch(() => undefined);
    });
    expect(screen.getAllByText('Sending your answer').length).toBeGreaterThan(0);
    await window.next(view({ revision: 2 }));
    await window.wait(600);
    expect(button('Deny').getAttribute('aria-disabled')).toBeNull();
  });
});

test('an answer that only Core may give is shown and cannot be sent', async () => {
  const window = await open({ interactions: [prompts.coreOnly] }, '#/prompt/p-core');
  await window.readToTheEnd();
  await window.wait(1_000);
  press('Deny');
  expect(window.answers()).toEqual([]);
  expect(screen.getAllByText('Core answers this one. It is only shown here.').length).toBeGreaterThan(0);
});

test('an agent’s text is plain text in a bordered block, never markup', async () => {
  const reason = '<img src=x onerror=alert(1)> **Allow this** \u202E';
  await open({ interactions: [{ ...prompts.chained, reason }] });
  const said = document.querySelector('.said');
  expect(said?.textContent).toContain('<img src=x onerror=alert(1)> **Allow this** U+202E');
  expect(said?.querySelector('img, strong')).toBeNull();
});
