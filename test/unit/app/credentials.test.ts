import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { CredentialDesk } from '../../../src/app/credentials.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { FakeKeychain } from '../../support/enrol-bed.ts';
import { FakeClock } from '../../support/fake-clock.ts';

let folder: string;
let keychain: FakeKeychain;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'credential-desk-'));
  keychain = new FakeKeychain();
});
const open = (): Promise<CredentialDesk> =>
  CredentialDesk.open({
    clock: new FakeClock(),
    random: systemRandom,
    logger: silentLogger,
    path: join(folder, 'credentials.json'),
    load: () => keychain,
  });
const file = (): string => join(folder, 'credentials.secrets.json');
const ok = (value: unknown) => ({ kind: 'ok', value });

describe('where a secret lies', () => {
  test('the keychain, and nothing of it on disk but that it is there', async () => {
    const desk = await open();
    expect(await desk.set('a', 'secret-in-keychain', true)).toEqual(ok(undefined));
    expect(await readFile(join(folder, 'credentials.json'), 'utf8')).toContain('"a": "keychain"');
    expect(await readFile(join(folder, 'credentials.json'), 'utf8')).not.toContain('secret-in-keychain');
    await expect(stat(file())).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await (await open()).get('a')).toEqual(ok('secret-in-keychain'));
  });

  test('a locked keychain is unavailable for what it holds, and for what it does not', async () => {
    await (await open()).set('a', 'x', true);
    keychain.locked = true;
    const desk = await open();
    expect(await desk.get('a')).toMatchObject({ kind: 'unavailable' });
    expect(await desk.get('b')).toMatchObject({ kind: 'unavailable' });
    expect(await desk.set('b', 'x', true)).toMatchObject({ kind: 'unavailable' });
    expect(await desk.delete('a')).toMatchObject({ kind: 'unavailable' });
    await expect(stat(file())).rejects.toMatchObject({ code: 'ENOENT' });
    keychain.locked = false;
    expect(await desk.get('a')).toEqual(ok('x'));
  });

  test('an entry that somebody removed from the keychain is not taken for a locked one when it was never there', async () => {
    const desk = await open();
    expect(await desk.get('never')).toEqual(ok(null));
    await desk.set('a', 'x', true);
    keychain.secrets.clear();
    expect(await desk.get('a')).toEqual({ kind: 'unavailable', reason: 'locked_or_lost' });
    await desk.abandon('a');
    expect(await desk.get('a')).toEqual(ok(null));
  });

  test('another choice strands nothing: each secret is read where it was put', async () => {
    const desk = await open();
    await desk.set('a', 'in keychain', true);
    await desk.choose('file');
    await desk.set('b', 'in file', true);
    const later = await open();
    expect([await later.get('a'), await later.get('b')]).toEqual([ok('in keychain'), ok('in file')]);
    expect([later.backendOf('a'), later.backendOf('b')]).toEqual(['keychain', 'file']);
    await later.choose('retry');
    expect(await later.get('b')).toEqual(ok('in file'));
  });

  test('a secret that moves leaves no copy behind', async () => {
    const desk = await open();
    await desk.set('a', 'first', true);
    await desk.choose('file');
    await desk.set('a', 'second', false);
    expect(keychain.secrets.size).toBe(0);
    await desk.choose('retry');
    await desk.set('a', 'third', false);
    expect(await readFile(file(), 'utf8')).not.toContain('second');
    expect(await (await open()).get('a')).toEqual(ok('third'));
  });

  test('a file that was chosen is found again when the list of what lies where is lost', async () => {
    const desk = await open();
    await desk.choose('file');
    await desk.set('a', 'in file', true);
    await rm(join(folder, 'credentials.json'));
    expect(await (await open()).get('a')).toEqual(ok('in file'));
  });

  test('memory lasts for this run, takes only what somebody else still has, and is read before the rest', async () => {
    keychain.locked = true;
    const desk = await open();
    await desk.choose('memory');
    expect(desk.lasting).toBe(false);
    expect(await desk.set('a', 'made here', true)).toMatchObject({ kind: 'unavailable' });
    expect(await desk.set('a', 'from an operator', false)).toEqual(ok(undefined));
    expect(await desk.get('a')).toEqual(ok('from an operator'));
    expect(desk.backendOf('a')).toBe('memory');
    await desk.probe();
    expect(await desk.get('a')).toEqual(ok('from an operator'));
    expect(await (await open()).get('a')).toMatchObject({ kind: 'unavailable' });
  });
});
