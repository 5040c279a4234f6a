import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join, parse, sep } from 'node:path';
import * as z from 'zod';
import { RuntimeError, rejected } from '../observe/errors.ts';
import { isCanonicalUuid } from '../protocol/ids.ts';

/** An executor credential as Core issues it to an operator (machine-connection 4). */
export interface ExecutorCredential {
  readonly keyId: string;
  /** Null where the file names none. */
  readonly environmentId: string | null;
  readonly token: string;
}

const maxBytes = 16 * 1024;
const schema = z.strictObject({
  key_id: z.string().refine(isCanonicalUuid, 'a canonical UUID'),
  environment_id: z.string().refine(isCanonicalUuid, 'a canonical UUID').optional(),
  // What a header can carry: no blank, no line end, no NUL, nothing but ASCII.
  executor_token: z
    .string()
    .max(maxBytes)
    .regex(/^[\x21-\x7e]+$/),
});

const invalid = (why: string): RuntimeError =>
  rejected('invalid_credential_file', `The credential file is not valid: ${why}.`);

/**
 * Reads the text of a credential file. Unknown members, a member given twice and anything after the object are refused.
 * @throws RuntimeError `invalid_credential_file`, which names the place and never a value.
 */
export function parseCredential(text: string): ExecutorCredential {
  if (Buffer.byteLength(text) > maxBytes) throw invalid('it is larger than 16 KiB');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalid('it is not one JSON object');
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    if (issue?.code === 'unrecognized_keys') throw invalid('it has a member that does not belong there');
    const place = issue?.path.join('.') ?? '';
    throw invalid(place === '' ? 'it is not an object' : `${place} is missing or not as it should be`);
  }
  // Parsing keeps the last of two equal members: then there are more strings than the object has.
  const members = Object.keys(parsed.data).length;
  const strings = text.match(/"(?:[^"\\]|\\.)*"(?:\s*:)?/g) ?? [];
  if (strings.filter((string) => string.endsWith(':')).length !== members)
    throw invalid('a member is given twice');
  return {
    keyId: parsed.data.key_id,
    environmentId: parsed.data.environment_id ?? null,
    token: parsed.data.executor_token,
  };
}

/**
 * The text of a credential file on disk, by its whole path: a regular file of this user that nobody else can read, with
 * no symbolic link on the way to it.
 * @throws RuntimeError `invalid_credential_file` with what to do.
 */
export async function readProtectedFile(path: string): Promise<string> {
  const unreadable = (error?: unknown): RuntimeError =>
    error instanceof RuntimeError
      ? error
      : rejected(
          'invalid_credential_file',
          'The credential file could not be read. Check that it is a file and that you may read it.',
          error,
        );
  try {
    await refuseLinks(path);
    const handle = await open(
      path,
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    );
    try {
      const found = await handle.stat();
      const named = await lstat(path);
      if (!found.isFile() || found.ino !== named.ino || found.dev !== named.dev)
        throw invalid('it is no regular file');
      if (process.platform !== 'win32') {
        if (found.uid !== process.getuid?.()) throw invalid('it belongs to another user');
        if ((found.mode & 0o077) !== 0) {
          throw invalid('others can read it. Take their rights away (chmod 600) and try again');
        }
      }
      if (found.size > maxBytes) throw invalid('it is larger than 16 KiB');
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw unreadable(error);
  }
}

async function refuseLinks(path: string): Promise<void> {
  const { root } = parse(path);
  let at = root;
  for (const part of path.slice(root.length).split(sep)) {
    at = join(at, part);
    if ((await lstat(at)).isSymbolicLink()) {
      throw invalid('there is a symbolic link on the way to it. Name the place that it leads to');
    }
  }
}
