// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import type { EnrolmentView } from '../../../src/contract/enrolment.ts';
import { folderChecks, progressRows } from '../../../renderer/select/enrolment.ts';
import { enrolment } from '../../support/renderer-fixture/enrol-scenarios.ts';
import { binding, connection, view } from '../../support/renderer-fixture/samples.ts';
import type { Scenario } from '../../support/renderer-fixture/scenarios.ts';
import { buttonNamed, renderWindow, type TestWindow } from '../../support/render-window.tsx';

const command = 'curl https://core.example.com/x | sh -s -- canary-grant-0123456789.signature';
const called = (window: TestWindow, name: string): readonly unknown[] =>
  window.calls.filter((call) => call.name === name).map((call) => call.request);
const press = (name: string | RegExp): Promise<void> =>
  act(async () => void fireEvent.click(buttonNamed(name)));
const type = (label: string | RegExp, value: string): Promise<void> =>
  act(async () => void fireEvent.change(screen.getByLabelText(label), { target: { value } }));
const page = (): string =>
  [
    document.body.textContent ?? '',
    ...[...document.querySelectorAll<HTMLInputElement>('input, textarea')].map((field) => field.value),
    window.location.href,
  ].join('\n');
const fault = (): string => document.querySelector('.notice.bad')?.textContent ?? '';
const open = (over: Partial<EnrolmentView> | null = {}, rest: Partial<Scenario> = {}): Promise<TestWindow> =>
  renderWindow({
    view: view({ enrolments: over === null ? [] : [enrolment(over)] }),
    hash: over === null ? '#/enrol' : '#/enrol/enrolment-1',
    ...rest,
  });

describe('an invitation that a link brought', () => {
  const invited = (host: string | null) =>
    renderWindow({ view: view({ invited: { host } }), hash: '#/enrol' });

  test('says whose it is, and is read when the person says so', async () => {
    const window = await invited('core.example.com\u202e');
    expect(page()).toContain('A link brought an invitation of core.example.com');
    expect(page()).not.toContain('\u202e');
    expect(called(window, 'enrol.read')).toEqual([]);
    await press('Read the invitation');
    expect(called(window, 'enrol.read')).toEqual([{ source: { kind: 'arrived' } }]);
  });

  test('can be ignored; one that is none cannot be read', async () => {
    const window = await invited(null);
    expect(() => buttonNamed('Read the invitation')).toThrow();
    await press('Ignore it');
    expect(called(window, 'enrol.ignore')).toHaveLength(1);
  });
});

describe('reading an invitation', () => {
  test('hands the text on once and keeps nothing of it in the page or its address', async () => {
    const window = await open(null);
    await type('Install command or link', command);
    await press('Read it');
    expect(called(window, 'enrol.read')).toEqual([{ source: { kind: 'invitation', text: command } }]);
    expect(page()).not.toContain('canary-grant');
    expect(page()).toContain('core.example.com');
    expect(globalThis.window.location.hash).toBe('#/enrol/enrolment-1');
  });

  test('a text that is none stays to be put right, with the reason', async () => {
    const message = 'There is no code in it. Paste the whole install command, as its Session shows it.';
    await open(null, { refuse: { 'enrol.read': { code: 'invalid_invitation', message } } });
    await type('Install command or link', 'something else');
    await press('Read it');
    expect(fault()).toBe(message);
    expect(page()).toContain('something else');
  });

  test('nothing is asked for an empty field', async () => {
    const window = await open(null);
    await press('Read it');
    expect(called(window, 'enrol.read')).toEqual([]);
    expect(fault()).toContain('Paste the install command first.');
  });

  test('a credential file goes with its address and Environment', async () => {
    const window = await open(null);
    await press('I have a credential file instead');
    await type('Address of Core', ' wss://core.example.com/api/v1/agent-daemon/ws ');
    await type('Environment', '5f0c8a52-6a38-4d5e-9d0d-0d9f4b7fa91e');
    await type('Credential file', '{"executor_token":"canary-secret"}');
    await press('Read it');
    expect(called(window, 'enrol.read')).toEqual([
      {
        source: {
          kind: 'credential',
          credential: '{"executor_token":"canary-secret"}',
          remote_url: 'wss://core.example.com/api/v1/agent-daemon/ws',
          environment_id: '5f0c8a52-6a38-4d5e-9d0d-0d9f4b7fa91e',
        },
      },
    ]);
    expect(page()).not.toContain('canary-secret');
  });
});

describe('confirming', () => {
  test('binds under the name that is shown, and only by the button', async () => {
    const window = await open();
    await type('Name here', 'my-handbook');
    expect(called(window, 'enrol.confirm')).toEqual([]);
    await press('Bind this folder');
    expect(called(window, 'enrol.confirm')).toEqual([{ id: 'enrolment-1', name: 'my-handbook' }]);
  });

  test('the folder that a Session names is shown and is no field', async () => {
    await open();
    expect(screen.getByText('The Session names it. Another folder needs another Session.')).toBeTruthy();
    expect([...document.querySelectorAll('input.input')].map((field) => field.id)).toHaveLength(1);
    const agent = [...document.querySelectorAll('dt')].find((term) => term.textContent === 'Agent');
    expect(agent?.nextElementSibling?.textContent).toBe('Claude Code');
  });

  test('another folder is looked at before it can be bound', async () => {
    const window = await open({ folder_frozen: false, folder: null, way: 'credential' });
    expect(buttonNamed('Bind this folder').getAttribute('aria-disabled')).toBe('true');
    await type('Folder', '/home/user/projects/handbook');
    await act(async () => void fireEvent.keyDown(screen.getByLabelText('Folder'), { key: 'Enter' }));
    await press('Choose…');
    await window.wait(0);
    expect(called(window, 'enrol.folder')).toEqual([
      { id: 'enrolment-1', path: '/home/user/projects/handbook' },
      { id: 'enrolment-1', path: '/home/user/projects/chosen' },
    ]);
  });

  test.each([
    [
      'a folder that is refused',
      { folder: { ...folder(), refusal: 'This is not a folder.' } },
      'This is not a folder.',
    ],
    ['no place for the credential', { credential_store: null }, 'There is no place for the credential now.'],
    ['a name that is none', { name: 'no name' }, 'Letters, digits, dot, dash and underscore'],
    ['what is under way', { state: 'working', step: 'claim' }, 'It is being bound.'],
  ] as const)('%s cannot be bound, and the reason stands beside the button', async (_name, over, why) => {
    const window = await open(over);
    await press('Bind this folder');
    expect(called(window, 'enrol.confirm')).toEqual([]);
    expect(document.querySelector('.foot-note')?.textContent).toContain(why);
  });

  test('a failure says what is wrong, and goes on from there', async () => {
    const error = { code: 'network', message: 'core.example.com refused the connection.' };
    const window = await open({ state: 'failed', step: 'claim', error });
    expect(fault()).toBe(error.message);
    await press('Try again');
    expect(called(window, 'enrol.confirm')).toHaveLength(1);
  });

  test('a store that is missing becomes a file only after the person read what that means', async () => {
    const window = await open({ credential_store: null });
    await press('Keep it in a file…');
    expect(called(window, 'credentials.choose')).toEqual([]);
    await press('Keep them in a file');
    expect(called(window, 'credentials.choose')).toEqual([{ choice: 'file' }]);
  });

  test('leaving closes it; once bound it stays bound', async () => {
    const window = await open();
    await press('Cancel');
    expect(called(window, 'enrol.close')).toEqual([{ id: 'enrolment-1' }]);
    expect(globalThis.window.location.hash).toBe('#/settings/bindings');
    const bound = await open({ state: 'bound', connected: true });
    expect(screen.queryByText('Cancel')).toBeNull();
    await press('Done');
    expect(called(bound, 'binding.remove')).toEqual([]);
  });
});

describe('a binding in Settings', () => {
  const settings = (rest: Partial<Scenario> = {}): Promise<TestWindow> =>
    renderWindow({ view: view({ bindings: [binding('site')] }), hash: '#/settings/bindings', ...rest });

  test('is rotated with the text of a new file, which is not kept in the page', async () => {
    const window = await settings();
    await press(/^Rotate credential of/);
    await type('Text of the new credential file', '{"executor_token":"canary-secret"}');
    await press('Replace it');
    expect(called(window, 'binding.rotate')).toEqual([
      { binding: 'site', credential: '{"executor_token":"canary-secret"}' },
    ]);
    expect(page()).not.toContain('canary-secret');
    expect(page()).toContain('The credential of site was replaced.');
  });

  test('is removed after a question that says what stays', async () => {
    const window = await settings();
    await press(/^Remove .*…$/);
    expect(page()).toContain('The folder and the history stay.');
    expect(called(window, 'binding.remove')).toEqual([]);
    await press('Remove the binding');
    expect(called(window, 'binding.remove')).toEqual([{ binding: 'site', leave_credential: false }]);
  });

  test('is asked about once more where the store does not answer', async () => {
    const refuse = { 'binding.remove': { code: 'credential_store_unavailable', message: 'It is locked.' } };
    const window = await settings({ refuse });
    await press(/^Remove .*…$/);
    await press('Remove the binding');
    await press('Remove it all the same');
    expect(called(window, 'binding.remove')).toEqual([
      { binding: 'site', leave_credential: false },
      { binding: 'site', leave_credential: true },
    ]);
  });

  test.each([
    ['credential_rejected', 'Parked: Core rejected the credential', 'Enrol again'],
    ['other_key_bound', 'Parked: another key is bound', null],
    ['incompatible_version', 'Parked: versions differ', null],
    ['binding_retired', 'Parked: Core retired this binding', /^Remove .*…$/],
  ] as const)('parked for %s has its own words and its own way out', async (reason_code, words, act_) => {
    const parked = connection({ state: 'parked', reason_code, reason: null });
    await renderWindow({ view: view({ bindings: [binding('site', { connection: parked })] }), hash: '#/' });
    expect(page()).toContain(words);
    if (act_ !== null) expect(buttonNamed(act_)).toBeTruthy();
  });
});

test('the first run names the way for whoever has an invitation', async () => {
  await renderWindow({
    view: view({
      bindings: [binding('local', { local: true, enrolled: null })],
      turns: [],
      interactions: [],
      cleanup: [],
      history: [],
    }),
    hash: '#/',
  });
  await act(
    async () => void fireEvent.click(screen.getByText('Enrol a binding', { selector: '.invited a' })),
  );
  expect(globalThis.window.location.hash).toBe('#/enrol');
});

describe('what is told of an enrolment', () => {
  test('a step is solid only when it was done, and Core’s sight only when it said so', () => {
    const marks = (over: Partial<EnrolmentView>) =>
      progressRows(enrolment(over))?.map(({ key, mark }) => `${key} ${mark.shape}`);
    expect(marks({})).toBeUndefined();
    expect(marks({ state: 'working', step: 'claim' })).toEqual([
      'folder tick',
      'store tick',
      'claim half',
      'enroll ring',
      'receipt ring',
      'connect ring',
    ]);
    expect(marks({ state: 'failed', step: 'store', way: 'credential' })).toEqual([
      'folder tick',
      'enroll tick',
      'store xx',
      'receipt ring',
    ]);
    expect(marks({ state: 'bound', connected: true })?.at(-1)).toBe('connect tick');
    expect(marks({ state: 'bound', connected: false })?.at(-1)).toBe('connect ring');
    expect(marks({ state: 'bound', connected: null })?.at(-1)).toBe('receipt tick');
  });

  test('a refusal is the only finding; else the link, the room, and every overlap', () => {
    expect(folderChecks({ ...folder(), refusal: 'No.' }).map(({ strong }) => strong)).toEqual(['No.']);
    const overlaps = (['same', 'inside', 'contains'] as const).map((how) => ({ binding: how, how }));
    const found = folderChecks({ ...folder(), asked: '/home/user/link', overlaps });
    expect(found.map(({ mark }) => mark.tone)).toEqual(['warn', 'ok', 'ok', 'warn', 'warn', 'warn']);
    expect(folderChecks({ ...folder(), writable: false, overlaps: [] })[0]?.mark.tone).toBe('warn');
    expect(folderChecks(null)).toEqual([]);
  });
});

function folder(): NonNullable<EnrolmentView['folder']> {
  const { folder: sample } = enrolment();
  if (sample === null) throw new Error('The sample has a folder.');
  return sample;
}
