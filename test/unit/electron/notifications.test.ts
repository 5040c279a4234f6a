import { expect, test } from 'vitest';
import { Notifications } from '../../../electron/notifications.ts';
import type { Note } from '../../../electron/notifier.ts';
import type { View } from '../../../src/contract/view.ts';
import { silentLogger } from '../../../src/observe/logger.ts';

const start = Date.parse('2026-01-01T00:00:00.000Z');

/** Only what is looked at. */
function view(
  connection: { state: string; lost_at?: string; reason_code?: string },
  cleanup: string[] = [],
): View {
  const whole = { lost_at: null, reason_code: null, since: new Date(start).toISOString(), ...connection };
  return {
    interactions: [],
    bindings: [{ name: 'docs-site', connection: whole }],
    cleanup: cleanup.map((state) => ({ state, owner: 'secret words of a task' })),
  } as unknown as View;
}

function bed() {
  const open: Note[] = [];
  const clock = { now: start };
  const notifications = new Notifications({
    logger: silentLogger,
    now: () => clock.now,
    actions: { open: () => undefined, deny: () => undefined },
    notifier: {
      show: (note) => {
        open.push(note);
        return { close: () => void open.splice(open.indexOf(note), 1) };
      },
    },
  });
  const look = (shown: View, options = { enabled: true, windowFocused: false }): string[] => {
    notifications.update(shown, options);
    return open.map(({ title, body }) => `${title}: ${body}`);
  };
  return { clock, look };
}

test('a lost connection is told after two minutes, once, and taken back when it serves again', () => {
  const { clock, look } = bed();
  const lost = view({ state: 'waiting', lost_at: new Date(start).toISOString() });
  expect(look(lost)).toEqual([]);
  clock.now += 119_999;
  expect(look(lost)).toEqual([]);
  clock.now += 1;
  const told = ['docs-site has been offline for 2 minutes: It goes on trying by itself'];
  expect(look(lost)).toEqual(told);
  expect(look(lost)).toEqual(told);
  expect(look(view({ state: 'serving' }))).toEqual([]);
});

test('parked is told with a reason of our own list, what did not settle without its owner', () => {
  const { look } = bed();
  expect(look(view({ state: 'parked', reason_code: 'credential_rejected' }))).toEqual([
    'docs-site is parked: Core rejected the credential',
  ]);
  expect(look(view({ state: 'serving' }, ['unconfirmed']))).toEqual([
    'Something did not settle: What was started has not been proven gone',
  ]);
  expect(look(view({ state: 'serving' }, ['closing']))).toEqual([]);
});

test('what the person has before their eyes is not told, also not when they look away afterwards', () => {
  const { look } = bed();
  const parked = view({ state: 'parked', reason_code: 'binding_retired' });
  expect(look(parked, { enabled: true, windowFocused: true })).toEqual([]);
  expect(look(parked)).toEqual([]);
  expect(look(view({ state: 'serving' }))).toEqual([]);
  expect(look(parked, { enabled: false, windowFocused: false })).toEqual([]);
});
