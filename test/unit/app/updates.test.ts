import { describe, expect, test } from 'vitest';
import { installHindrance, stepUpdate, UpdateDesk, type Updater } from '../../../src/app/updates.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { Deferred } from '../../support/controlled-harness.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';
import { view } from '../../support/renderer-fixture/samples.ts';

const idle = { turns: [], cleanup: [], transfers: [], enrolments: [] };

class Feed implements Updater {
  looks = 0;
  installs = 0;
  offers: string | null = null;
  readonly downloading = new Deferred<void>();
  percent: (percent: number) => void = () => undefined;
  async look(): Promise<string | null> {
    this.looks++;
    if (this.offers === 'broken') throw new Error('no feed');
    return this.offers;
  }
  download(onPercent: (percent: number) => void): Promise<void> {
    this.percent = onPercent;
    return this.downloading.promise;
  }
  install(): void {
    this.installs++;
  }
}

function desk(): { feed: Feed; desk: UpdateDesk; clock: FakeClock } {
  const clock = new FakeClock();
  return {
    feed: new Feed(),
    clock,
    desk: new UpdateDesk({ clock, logger: silentLogger, onChange: () => undefined }),
  };
}

describe('an update', () => {
  test('is off without a feed, and says so when asked', async () => {
    const { desk: one } = desk();
    expect(one.view.state).toBe('off');
    await expect(one.look()).rejects.toMatchObject({ code: 'not_available' });
    expect(() => one.install(idle)).toThrow('No update is ready');
  });

  test('is looked for at once and every few hours, and fetched only when a person says so', async () => {
    const { desk: one, feed, clock } = desk();
    one.serve(feed);
    await settle();
    expect(one.view).toMatchObject({ state: 'current', failed: false });
    feed.offers = '0.2.0';
    await clock.advance(6 * 60 * 60_000);
    await settle();
    expect([feed.looks, one.view.state, one.view.version]).toEqual([2, 'available', '0.2.0']);
    const download = one.download();
    feed.percent(41.7);
    expect(one.view).toMatchObject({ state: 'downloading', percent: 41 });
    await expect(one.look()).rejects.toMatchObject({ code: 'conflict' });
    feed.downloading.resolve();
    await download;
    expect(one.view.state).toBe('ready');
    expect(feed.installs).toBe(0);
    one.install(idle);
    expect(feed.installs).toBe(1);
  });

  test('that cannot be looked for or fetched is told, and can be tried again', async () => {
    const { desk: one, feed } = desk();
    feed.offers = 'broken';
    one.serve(feed);
    await settle();
    expect(one.view).toMatchObject({ state: 'current', failed: true });
    feed.offers = '0.2.0';
    await one.look();
    feed.downloading.reject(new Error('gone'));
    await one.download();
    expect(one.view).toMatchObject({ state: 'available', failed: true, version: '0.2.0' });
  });

  test('is never installed during a Turn, an open cleanup, work on a folder or an enrolment', () => {
    expect(installHindrance(idle)).toBeNull();
    const busy = view();
    for (const part of ['turns', 'cleanup'] as const) {
      expect(busy[part].length).toBeGreaterThan(0);
      expect(installHindrance({ ...idle, [part]: busy[part] })).not.toBeNull();
    }
  });

  test('what does not fit the state is not done', () => {
    expect(stepUpdate({ state: 'off' }, { type: 'look' })).toBeNull();
    expect(stepUpdate({ state: 'ready', version: '1' }, { type: 'look' })).toBeNull();
    expect(stepUpdate({ state: 'looking' }, { type: 'download' })).toBeNull();
    expect(
      stepUpdate(
        { state: 'current', checkedAt: null, failed: false },
        { type: 'found', version: '2', at: 0 },
      ),
    ).toBeNull();
  });
});
