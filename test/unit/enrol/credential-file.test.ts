import { chmod, link, mkdir, mkdtemp, realpath, symlink, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseCredential, readProtectedFile } from '../../../src/enrol/credential-file.ts';

const keyId = '58e2e6ff-46cf-477f-8705-f19c41923382';
const environmentId = '92ea7b07-1c1f-4eb1-b222-b335f2123ed8';
const token = 'canary-token-AbCdEfGhIjKlMnOpQrStUvWxYz01234';
const whole = { key_id: keyId, environment_id: environmentId, executor_token: token };
const refused = { code: 'invalid_credential_file' };

describe('the text of a credential file', () => {
  test('is one object with a key, a token and perhaps an Environment', () => {
    expect(parseCredential(JSON.stringify(whole))).toEqual({ keyId, environmentId, token });
    expect(parseCredential(` ${JSON.stringify({ key_id: keyId, executor_token: token })}\n`)).toEqual({
      keyId,
      environmentId: null,
      token,
    });
  });

  test.each([
    ['an unknown member', JSON.stringify({ ...whole, more: 1 })],
    ['a member in another case', JSON.stringify({ Key_id: keyId, executor_token: token })],
    ['anything after the object', `${JSON.stringify(whole)} {}`],
    ['a member given twice', `{"key_id":"${keyId}","executor_token":"${token}","executor_token":"${token}"}`],
    ['a key that is no UUID', JSON.stringify({ ...whole, key_id: 'key' })],
    ['a key in upper case', JSON.stringify({ ...whole, key_id: keyId.toUpperCase() })],
    ['the nil UUID', JSON.stringify({ ...whole, key_id: '00000000-0000-0000-0000-000000000000' })],
    ['an Environment that is no UUID', JSON.stringify({ ...whole, environment_id: '' })],
    ['an empty token', JSON.stringify({ ...whole, executor_token: '' })],
    ...[' ', '\t', '\r', '\n', '\0', 'é'].map((char): [string, string] => [
      `a token with ${JSON.stringify(char)}`,
      JSON.stringify({ ...whole, executor_token: `${token}${char}` }),
    ]),
    ['a list', '[]'],
    ['no JSON', `${token}`],
    ['more than 16 KiB', JSON.stringify({ ...whole, executor_token: 'x'.repeat(20_000) })],
  ])('with %s is refused, and nothing of it is repeated', (_name, text) => {
    let error: unknown;
    try {
      parseCredential(text);
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject(refused);
    expect(String(error)).not.toContain(token.slice(0, 12));
  });
});

describe('a credential file on disk', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'credential-file-')));
    path = join(folder, 'key.json');
    await writeFile(path, JSON.stringify(whole), { mode: 0o600 });
  });

  test('is read when it is a regular file of this user alone', async () => {
    expect(parseCredential(await readProtectedFile(path)).token).toBe(token);
  });

  test.each([0o640, 0o604, 0o644, 0o666, 0o660])('with mode %o is refused', async (mode) => {
    await chmod(path, mode);
    await expect(readProtectedFile(path)).rejects.toMatchObject(refused);
  });

  test('behind a link, or below one, is refused', async () => {
    await symlink(path, join(folder, 'link.json'));
    await expect(readProtectedFile(join(folder, 'link.json'))).rejects.toMatchObject(refused);
    await mkdir(join(folder, 'real'));
    await symlink(join(folder, 'real'), join(folder, 'way'));
    await link(path, join(folder, 'real', 'key.json'));
    await expect(readProtectedFile(join(folder, 'way', 'key.json'))).rejects.toMatchObject(refused);
  });

  test('that is a folder, a pipe or not there is refused', async () => {
    await expect(readProtectedFile(folder)).rejects.toMatchObject(refused);
    await expect(readProtectedFile(join(folder, 'none.json'))).rejects.toMatchObject(refused);
    execFileSync('mkfifo', ['-m', '600', join(folder, 'pipe')]);
    await expect(readProtectedFile(join(folder, 'pipe'))).rejects.toMatchObject(refused);
  });
});
