import { mkdtemp, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { silentLogger } from '../../../src/observe/logger.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { privateFolder } from '../../../src/store/atomic-file.ts';
import { InstanceLock } from '../../../src/store/instance-lock.ts';
import { KeychainStore, keychainHangs, type NativeKeychain } from '../../../src/store/keychain.ts';
import { JsonDocument } from '../../../src/store/settings.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';

const folder = (): Promise<string> => mkdtemp(join(tmpdir(), 'agent-runtime-store-'));
const schema = z.object({ n: z.number() });

describe('a state file', () => {
  test('is written whole, for its owner alone, and leaves no temporary behind', async () => {
    const path = join(await folder(), 'state.json');
    const options = { path, schema, initial: { n: 0 }, clock: new FakeClock(), random: systemRandom };
    const { document } = await JsonDocument.open(options);
    await Promise.all([1, 2, 3].map((n) => document.set({ n })));
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ n: 3 });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(path, '..'))).toEqual(['state.json']);
  });

  test('that does not parse is set aside and named, never silently reset', async () => {
    const path = join(await folder(), 'state.json');
    await writeFile(path, '{"n": "lost');
    const options = { path, schema, initial: { n: 7 }, clock: new FakeClock(), random: systemRandom };
    const opened = await JsonDocument.open(options);
    expect(opened.document.value).toEqual({ n: 7 });
    expect(opened.setAside).not.toBeNull();
    expect(await readFile(opened.setAside ?? '', 'utf8')).toBe('{"n": "lost');
  });
});

test('a folder that cannot be made says so instead of trying for ever', async () => {
  await expect(privateFolder('/proc/nowhere/deeper/state')).rejects.toMatchObject({ code: 'storage' });
  const path = join(await folder(), 'a', 'b', 'c');
  await Promise.all([privateFolder(path), privateFolder(path)]);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
});

describe('the instance lock', () => {
  test('refuses a second holder and takes over one whose process is gone or another', async () => {
    const path = join(await folder(), 'lock.json');
    const first = await InstanceLock.acquire(path, systemRandom);
    await expect(InstanceLock.acquire(path, systemRandom)).rejects.toMatchObject({ code: 'already_running' });
    await first.release();
    // The pid lives, but it is another process than the one that wrote this.
    await writeFile(path, JSON.stringify({ pid: process.pid, startTime: '1', bootId: 'other' }));
    const second = await InstanceLock.acquire(path, systemRandom);
    await second.release();
    await writeFile(path, 'not json at all');
    await (await InstanceLock.acquire(path, systemRandom)).release();
    expect(await readdir(join(path, '..'))).toEqual([]);
  });
});

describe('the keychain', () => {
  const marks = () => {
    const known = new Set<string>();
    return {
      has: (account: string) => known.has(account),
      add: (account: string) => Promise.resolve(void known.add(account)),
      remove: (account: string) => Promise.resolve(void known.delete(account)),
    };
  };
  const native = (over: Partial<NativeKeychain> = {}): NativeKeychain => {
    const secrets = new Map<string, string>();
    return {
      name: 'test',
      get: (_service, account) => Promise.resolve(secrets.get(account) ?? null),
      set: (_service, account, secret) => Promise.resolve(void secrets.set(account, secret)),
      delete: (_service, account) => Promise.resolve(secrets.delete(account)),
      ...over,
    };
  };
  const store = (keychain: NativeKeychain, clock = new FakeClock()) =>
    new KeychainStore({ native: keychain, clock, logger: silentLogger, marks: marks() });

  test('tells a locked keyring from an absent secret', async () => {
    let locked = false;
    const inner = native();
    const keychain = store({ ...inner, get: (s, a) => (locked ? Promise.resolve(null) : inner.get(s, a)) });
    expect(await keychain.get('a')).toEqual({ kind: 'ok', value: null });
    await keychain.set('a', 'secret');
    locked = true;
    expect(await keychain.get('a')).toEqual({ kind: 'unavailable', reason: 'locked_or_lost' });
  });

  test('gives up after five seconds and starts no second call beside the one that hangs', async () => {
    const clock = new FakeClock();
    let calls = 0;
    let answer: (value: string | null) => void = () => undefined;
    const keychain = store(
      native({
        get: () => {
          calls++;
          return new Promise((resolve) => (answer = resolve));
        },
      }),
      clock,
    );
    const first = keychain.get('a');
    await clock.advance(5_000);
    expect(await first).toEqual({ kind: 'unavailable', reason: 'timeout' });
    expect(await keychain.get('a')).toEqual({ kind: 'unavailable', reason: 'timeout' });
    expect(calls).toBe(1);
    answer('late');
    await settle();
    const again = keychain.get('a');
    await settle();
    answer('x');
    expect(await again).toEqual({ kind: 'ok', value: 'x' });
  });

  test('tells whoever waits in line as soon as the call before hangs', async () => {
    const clock = new FakeClock();
    const keychain = store(native({ set: () => new Promise(() => undefined) }), clock);
    const both = [keychain.set('a', 'x'), keychain.get('b'), keychain.set('c', 'y')];
    await clock.advance(5_000);
    expect(await Promise.all(both)).toEqual(both.map(() => ({ kind: 'unavailable', reason: 'timeout' })));
    expect(keychainHangs()).toBe(true);
  });

  test('a probe is a whole round trip', async () => {
    expect(await store(native()).probe(systemRandom)).toEqual({ kind: 'ok', value: undefined });
    const deaf = store(native({ set: () => Promise.reject(new Error('Cannot autolaunch D-Bus')) }));
    expect(await deaf.probe(systemRandom)).toEqual({ kind: 'unavailable', reason: 'none' });
  });
});
