import { describe, expect, test, vi } from 'vitest';
import {
  CallError,
  isWindowBridge,
  openConsoleLink,
  openDesktopLink,
  type ConsoleSocket,
  type LinkStatus,
} from '../../../renderer/bridge.ts';
import { ToastShelf } from '../../../renderer/notices.ts';
import { href, parseRoute, routeOf, type Route } from '../../../renderer/router.ts';
import { TurnJournal, TurnJournals, ViewStore } from '../../../renderer/store.ts';
import type { View } from '../../../src/contract/view.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';
import { longJournal, planJournal } from '../../support/renderer-fixture/sample-journals.ts';
import { now, view } from '../../support/renderer-fixture/samples.ts';
import { standIn } from '../../support/renderer-fixture/stand-in-bridge.ts';

const scenario = { view: view(), hash: '#/', journals: { 'run-plan': planJournal } };

describe('the link of the desktop window', () => {
  test('asks for the first view and takes the pushed ones after it', async () => {
    const daemon = standIn(scenario);
    const link = openDesktopLink(daemon.bridge);
    const seen: number[] = [];
    link.onView((next) => void seen.push(next.revision));
    await settle();
    daemon.publish(view({ revision: 2 }));
    expect(seen).toEqual([1, 2]);
  });

  test('a view that does not parse is told and goes no further', async () => {
    const daemon = standIn(scenario);
    let push: (view: unknown) => void = () => undefined;
    const link = openDesktopLink({
      ...daemon.bridge,
      onView: (listener) => ((push = listener), () => undefined),
    });
    const statuses: LinkStatus[] = [];
    const views: View[] = [];
    link.onStatus((status) => void statuses.push(status));
    link.onView((next) => void views.push(next));
    await settle();
    push({ revision: 'two' });
    expect(statuses).toEqual(['connecting', 'open', 'unreadable']);
    expect(views).toHaveLength(1);
  });

  test('a refusal keeps its code and its words', async () => {
    const link = openDesktopLink(standIn(scenario).bridge);
    await expect(link.call('turn.show', { run_id: 'none' })).rejects.toMatchObject({
      code: 'not_found',
      message: 'Nothing is kept under that id.',
    });
  });

  test('an answer of the wrong shape is an error of that call alone', async () => {
    const daemon = standIn(scenario);
    const link = openDesktopLink({
      ...daemon.bridge,
      command: async () => ({ ok: true, answer: { run_id: 7 } }),
    });
    await expect(link.call('turn.start', { prompt: 'x' })).rejects.toBeInstanceOf(CallError);
    const bare = openDesktopLink({ ...daemon.bridge, command: async () => 'no result' });
    await expect(bare.call('runtime.pause', {})).rejects.toMatchObject({ code: 'fault' });
  });

  test('a bridge that is gone closes the link', async () => {
    const daemon = standIn(scenario);
    const link = openDesktopLink(daemon.bridge);
    const statuses: LinkStatus[] = [];
    link.onStatus((status) => void statuses.push(status));
    await settle();
    daemon.close();
    await expect(link.call('runtime.pause', {})).rejects.toMatchObject({ code: 'closed' });
    expect(statuses.at(-1)).toBe('closed');
    daemon.publish(view({ revision: 2 }));
    expect(statuses.at(-1)).toBe('open');
  });

  test('only an object of that shape is taken for the bridge', () => {
    expect(isWindowBridge(standIn(scenario).bridge)).toBe(true);
    for (const other of [null, undefined, 1, {}, { command: () => 1, onView: () => 1, onShow: () => 1 }])
      expect(isWindowBridge(other)).toBe(false);
  });

  test('what the shell asks to show is parsed too', () => {
    const daemon = standIn(scenario);
    const shown: unknown[] = [];
    openDesktopLink(daemon.bridge).onShow((show) => void shown.push(show));
    daemon.show({ screen: 'prompt', id: 'p' });
    daemon.show({ screen: 'answer', id: 'p' });
    expect(shown).toEqual([{ screen: 'prompt', id: 'p' }]);
  });
});

describe('the link of the browser console', () => {
  const open = () => {
    const clock = new FakeClock(now);
    const sockets: (ConsoleSocket & { readonly sent: unknown[] })[] = [];
    const link = openConsoleLink({
      clock,
      platform: 'linux',
      connect: () => {
        const sent: unknown[] = [];
        const socket = {
          sent,
          send: (text: string) => void sent.push(JSON.parse(text)),
          close: () => undefined,
          onopen: null,
          onmessage: null,
          onclose: null,
        };
        sockets.push(socket);
        return socket;
      },
    });
    const statuses: LinkStatus[] = [];
    link.onStatus((status) => void statuses.push(status));
    const last = () => {
      const socket = sockets.at(-1);
      if (socket === undefined) throw new Error('not dialed');
      return socket;
    };
    const say = (reply: unknown): void => last().onmessage?.({ data: JSON.stringify(reply) });
    return { clock, link, sockets, statuses, last, say };
  };

  test('subscribes as soon as it is open and is open with the first view', () => {
    const { link, statuses, last, say } = open();
    const views: View[] = [];
    link.onView((next) => void views.push(next));
    last().onopen?.();
    expect(last().sent).toEqual([{ type: 'subscribe' }]);
    say({ type: 'view', view: view() });
    expect(statuses).toEqual(['connecting', 'open']);
    expect(views).toHaveLength(1);
  });

  test('answers and errors find their call by id', async () => {
    const { link, last, say } = open();
    last().onopen?.();
    const first = link.call('cleanup.retry', { id: 'a' });
    const second = link.call('cleanup.retry', { id: 'b' });
    say({ type: 'error', id: 2, error: { code: 'busy', message: 'Busy.' } });
    say({ type: 'answer', id: 1, answer: { confirmed: true } });
    await expect(first).resolves.toEqual({ confirmed: true });
    await expect(second).rejects.toMatchObject({ code: 'busy' });
  });

  test('a lost socket rejects what was under way and dials again', async () => {
    const { clock, link, sockets, statuses, last, say } = open();
    last().onopen?.();
    say({ type: 'view', view: view() });
    const call = link.call('runtime.pause', {});
    last().onclose?.();
    await expect(call).rejects.toMatchObject({ code: 'closed' });
    await expect(link.call('runtime.pause', {})).rejects.toMatchObject({ code: 'closed' });
    expect(statuses.at(-1)).toBe('closed');
    await clock.advance(500);
    expect(sockets).toHaveLength(2);
    last().onopen?.();
    say({ type: 'view', view: view({ revision: 9 }) });
    expect(statuses.at(-1)).toBe('open');
  });

  test('waits longer after each attempt that failed', async () => {
    const { clock, sockets, last } = open();
    for (const wait of [500, 1_000, 2_000, 5_000, 5_000]) {
      const count = sockets.length;
      last().onclose?.();
      await clock.advance(wait - 1);
      expect(sockets).toHaveLength(count);
      await clock.advance(1);
      expect(sockets).toHaveLength(count + 1);
    }
  });

  test('a message that is not of the protocol is told, not thrown', () => {
    const { statuses, last } = open();
    last().onopen?.();
    last().onmessage?.({ data: '{' });
    expect(statuses.at(-1)).toBe('unreadable');
  });
});

describe('the view store', () => {
  test('an older view of the same daemon is dropped, one of a new daemon is not', async () => {
    const daemon = standIn({ ...scenario, view: view({ revision: 5 }) });
    const store = new ViewStore(openDesktopLink(daemon.bridge), new FakeClock(now));
    await settle();
    daemon.publish(view({ revision: 4 }));
    expect(store.get().view?.revision).toBe(5);
    const restarted = { ...view().runtime, started_at: new Date(now).toISOString() };
    daemon.publish(view({ revision: 1, runtime: restarted }));
    expect(store.get().view?.revision).toBe(1);
  });

  test('unchanged Turns keep their identity from one view to the next', async () => {
    const daemon = standIn(scenario);
    const store = new ViewStore(openDesktopLink(daemon.bridge), new FakeClock(now));
    await settle();
    const before = store.get().view?.turns;
    daemon.publish(view({ revision: 2, health: [] }));
    expect(store.get().view?.turns).toBe(before);
    expect(store.get().view?.revision).toBe(2);
  });

  test('a lost connection keeps the last view and says since when it is old', async () => {
    const daemon = standIn(scenario);
    const link = openDesktopLink(daemon.bridge);
    const store = new ViewStore(link, new FakeClock(now));
    await settle();
    daemon.close();
    await link.call('runtime.pause', {}).catch(() => undefined);
    expect(store.get()).toMatchObject({ status: 'closed', viewAt: now });
    expect(store.get().view?.interactions).toHaveLength(4);
  });
});

describe('the journal of a Turn', () => {
  test('is read once, in pages, and then only from the cursor', async () => {
    const entries = longJournal(2_500);
    const daemon = standIn({ view: view({ turns: [] }), hash: '', journals: { r: entries } });
    const journal = new TurnJournal(openDesktopLink(daemon.bridge), 'r');
    journal.catchUp(null);
    await vi.waitFor(() => expect(journal.get().complete).toBe(true));
    const reads = () => daemon.calls.filter((call) => call.name === 'turn.read').map((call) => call.request);
    expect(reads()).toEqual([-1, 999, 1_999].map((after) => ({ run_id: 'r', after, limit: 1_000 })));
    journal.catchUp(null);
    await settle();
    expect(reads()).toHaveLength(3);
  });

  test('asks again only when the view says that there is more', async () => {
    const open = view();
    const daemon = standIn({ ...scenario, view: open });
    const journal = new TurnJournal(openDesktopLink(daemon.bridge), 'run-plan');
    const reads = () => daemon.calls.filter((call) => call.name === 'turn.read').length;
    journal.catchUp(planJournal.length);
    await vi.waitFor(() => expect(journal.get().complete).toBe(true));
    journal.catchUp(planJournal.length);
    await settle();
    expect(reads()).toBe(1);
    journal.catchUp(planJournal.length + 1);
    await settle();
    expect(reads()).toBe(2);
  });

  test('a failed read is shown and tried again with the next view', async () => {
    const daemon = standIn(scenario);
    let fails = true;
    const link = openDesktopLink({
      ...daemon.bridge,
      command: async (name, request) =>
        name === 'turn.read' && fails
          ? { ok: false, error: { code: 'storage', message: 'The disk is full.' } }
          : daemon.bridge.command(name, request),
    });
    const journal = new TurnJournal(link, 'run-plan');
    journal.catchUp(14);
    await vi.waitFor(() => expect(journal.get().error).toBe('The disk is full.'));
    fails = false;
    journal.catchUp(14);
    await vi.waitFor(() => expect(journal.get()).toMatchObject({ error: null, complete: true }));
  });

  test('journals that were looked at are kept, the oldest is dropped', () => {
    const journals = new TurnJournals(openDesktopLink(standIn(scenario).bridge));
    const first = journals.open('r0');
    for (let i = 1; i < 12; i++) journals.open(`r${i}`);
    expect(journals.open('r0')).toBe(first);
    for (let i = 20; i < 32; i++) journals.open(`r${i}`);
    expect(journals.open('r0')).not.toBe(first);
  });
});

test.each<Route>([
  { screen: 'home' },
  { screen: 'compose' },
  { screen: 'prompt', id: 'a/b c%' },
  { screen: 'turns' },
  { screen: 'turn', runId: 'r-1' },
  { screen: 'history' },
  { screen: 'doctor' },
  { screen: 'settings', tab: 'general' },
  { screen: 'enrol', id: null },
  { screen: 'enrol', id: 'e-1' },
])('a reload comes back to %o', (route) => {
  expect(parseRoute(href(route))).toEqual(route);
});

test('an address that makes no sense is Home', () => {
  for (const hash of ['', '#', '#/nowhere', '#/prompt/', '#/prompt/%E0%A4%A'])
    expect(parseRoute(hash)).toEqual({ screen: 'home' });
  expect(routeOf({ screen: 'turn', run_id: 'r' })).toEqual({ screen: 'turn', runId: 'r' });
});

test('a toast stays 5 s, longer while it is looked at, and never more than three', async () => {
  const clock = new FakeClock(now);
  const shelf = new ToastShelf(clock);
  for (const text of ['a', 'b', 'c', 'd']) shelf.done(text);
  expect(shelf.get().map((toast) => toast.text)).toEqual(['b', 'c', 'd']);
  await clock.advance(4_000);
  shelf.hold(true);
  await clock.advance(60_000);
  expect(shelf.get()).toHaveLength(3);
  shelf.hold(false);
  await clock.advance(4_999);
  expect(shelf.get()).toHaveLength(3);
  await clock.advance(1);
  expect(shelf.get()).toHaveLength(0);
  expect(clock.pending).toBe(0);
});
