// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import type { View } from '../../../src/contract/view.ts';
import { buttonNamed, renderWindow, type TestWindow } from '../../support/render-window.tsx';
import { ago } from '../../support/renderer-fixture/samples.ts';
import { scenarios, type Scenario } from '../../support/renderer-fixture/scenarios.ts';

const scenario = (name: string): Scenario => {
  const found = scenarios[name];
  if (!found) throw new Error(`no scenario ${name}`);
  return found;
};
const click = (element: Element): Promise<void> => act(async () => void fireEvent.click(element));
const press = (name: string): Promise<void> => click(buttonNamed(name));
async function asked(): Promise<TestWindow> {
  const window = await renderWindow(scenario('prompt-rule'));
  await window.readToTheEnd();
  await window.wait(1_000);
  return window;
}

describe('a rule', () => {
  test('is shown whole before it is saved, and saved with the answer', async () => {
    const window = await asked();
    await press('Allow with a rule…');
    expect(document.querySelector('.rule-match')?.textContent).toBe('npm run migrate -- --env test');
    expect(window.answers()).toEqual([]);
    await press('This folder');
    await press('30 days');
    await press('Allow and save the rule');
    const answer = { kind: 'allow', scope: 'folder', days: 30 };
    expect(window.answers()).toEqual([{ id: 'p-ruled', answer }]);
  });

  test('that was saved is said once the daemon says so, and can be undone', async () => {
    const before = scenario('prompt-rule').view;
    const asks = before.interactions.filter(({ id }) => id !== 'p-ruled');
    const [known] = before.rules;
    if (known === undefined) throw new Error('no rule to copy');
    const saved = { ...known, id: 'rule-new', match: 'npm run migrate -- --env test' };
    const end: View['history'][number] = {
      ...{ kind: 'permission', id: 'p-ruled', run_id: 'run-ledger', binding: 'billing-service' },
      ...{ harness: 'claude_sdk', title: 'Run a command', at: ago(0), outcome: 'allowed' },
      ...{ decided_by: 'person', detail: null },
    };
    const gone = { ...before, revision: 2, interactions: asks, history: [...before.history, end] };
    const toast = (): string | undefined => document.querySelector('.toast .grow')?.textContent ?? undefined;

    const window = await asked();
    await press('Allow with a rule…');
    await press('Allow and save the rule');
    expect(toast()).toBeUndefined();
    await window.next({ ...gone, rules: [...before.rules, saved] });
    expect(toast()).toBe('Rule saved: npm run migrate -- --env test, in billing-service.');
    await press('Undo');
    expect(window.calls.filter(({ name }) => name === 'rule.remove')).toMatchObject([
      { request: { id: 'rule-new' } },
    ]);
    expect(toast()).toBe('The rule was removed. You are asked again.');

    // Somebody else was first: the rule that came up then is not this window's.
    const late = await renderWindow({ ...scenario('prompt-rule'), loses: true });
    await late.readToTheEnd();
    await late.wait(1_000);
    await press('Allow with a rule…');
    await press('Allow and save the rule');
    await late.next({ ...gone, rules: [...before.rules, saved] });
    expect(toast()).toBeUndefined();
  });

  test('is for the Session unless the person says otherwise, and going back saves none', async () => {
    const window = await asked();
    await press('Allow with a rule…');
    await press('Go back');
    expect(window.answers()).toEqual([]);
    await press('Allow with a rule…');
    await press('Allow and save the rule');
    expect(window.answers()).toEqual([{ id: 'p-ruled', answer: { kind: 'allow', scope: 'session' } }]);
  });

  test('cannot be made before the end was on screen, nor where none can cover the request', async () => {
    const window = await renderWindow(scenario('prompt-rule'));
    await window.wait(1_000);
    await press('Allow with a rule…');
    expect(document.querySelector('.rule-match')).toBeNull();
    const chained = await renderWindow(scenario('prompt-command'));
    await chained.readToTheEnd();
    await chained.wait(1_000);
    expect(() => buttonNamed('Allow with a rule…')).toThrow();
    expect(document.body.textContent).toContain('No rule can cover this one.');
  });

  test('another command is allowed once, with all that the agent asked beside it', async () => {
    const window = await asked();
    await press('Change it first…');
    await press('Allow once, changed');
    expect(window.answers()).toEqual([]);
    const field = screen.getByLabelText('What it runs instead');
    await act(async () => fireEvent.change(field, { target: { value: 'npm run migrate -- --dry' } }));
    await press('Allow once, changed');
    const input = { command: 'npm run migrate -- --dry' };
    expect(window.answers()).toEqual([{ id: 'p-ruled', answer: { kind: 'allow', scope: 'once', input } }]);
  });
});

describe('the list of rules', () => {
  test('says what each allows and where, and removes one or all', async () => {
    const window = await renderWindow(scenario('settings-rules'));
    const text = document.querySelector('#settings-panel')?.textContent ?? '';
    for (const part of ['npm test', 'In billing-service', 'Used 31 times', 'ends in 6 days', 'Not used yet'])
      expect(text).toContain(part);
    expect(text).toContain('/home/user/projects/docs-site');
    const calls = (): unknown[] => window.calls.filter(({ name }) => name.startsWith('rule.'));
    await click(document.querySelectorAll('.rule-row button')[0] ?? document.body);
    expect(calls()).toMatchObject([{ name: 'rule.remove', request: { id: 'rule-test' } }]);
    await press('Remove all');
    await press('Remove 3 rules');
    expect(calls()[1]).toMatchObject({ name: 'rule.remove_all' });
  });

  test('an empty one says what that means', async () => {
    await renderWindow(scenario('settings-rules-none'));
    expect(document.body.textContent).toContain('No rules. You are asked each time.');
  });
});

describe('who decides where no rule does', () => {
  const choose = (label: string, value: string): Promise<void> =>
    act(async () => void fireEvent.change(screen.getByLabelText(label), { target: { value } }));

  test('is chosen from the words of the design, and never asking takes a second word', async () => {
    const window = await renderWindow(scenario('settings-rules'));
    const changes = () =>
      window.calls.filter(({ name }) => name === 'settings.set').map(({ request }) => request);
    await choose('When an agent asks', 'accept_edits');
    await choose('Who may answer', 'local');
    expect(changes()).toEqual([{ policy: 'accept_edits' }, { answered_by: 'local' }]);
    await choose('When an agent asks', 'unattended');
    expect(changes()).toHaveLength(2);
    await press('Go back');
    expect(changes()).toHaveLength(2);
    await choose('When an agent asks', 'unattended');
    await press('Never ask');
    expect(changes()).toEqual([
      { policy: 'accept_edits' },
      { answered_by: 'local' },
      { policy: 'unattended' },
    ]);
  });
});
