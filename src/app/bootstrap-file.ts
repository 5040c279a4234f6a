import { readFile, stat } from 'node:fs/promises';
import * as z from 'zod';
import { isLoopback } from '../enrol/addresses.ts';
import { RuntimeError, rejected } from '../observe/errors.ts';
import { WIRE_VERSION } from '../protocol/version.ts';
import { firstFault } from './config.ts';

/** A credential handed over for one run (`--bootstrap-file`). It is read into memory and stored nowhere. */
const schema = z.strictObject({
  version: z.string(),
  core_url: z.string(),
  device_id: z.string().min(1).max(512),
  credential: z
    .string()
    .max(16 * 1024)
    .regex(/^[\x21-\x7e]+$/),
});
export type BootstrapFile = z.output<typeof schema>;

const maxBytes = 16 * 1024;

/**
 * @throws RuntimeError `invalid_bootstrap_file` (never with a value of the file), or `incompatible_version` when it is
 * for another wire version.
 */
export async function readBootstrapFile(path: string): Promise<BootstrapFile> {
  const invalid = (why: string): RuntimeError =>
    rejected('invalid_bootstrap_file', `The bootstrap file ${path} is not valid: ${why}.`);
  let text: string;
  try {
    if ((await stat(path)).size > maxBytes) throw invalid('it is larger than 16 KiB');
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof RuntimeError) throw error;
    throw rejected(
      'invalid_bootstrap_file',
      `The bootstrap file ${path} could not be read. Check that it is a file and that you may read it.`,
      error,
    );
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalid('it is not JSON');
  }
  if (hasRepeatedTopMember(text)) throw invalid('a member is given twice');
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw invalid(firstFault(parsed.error));
  const file = parsed.data;
  if (file.version !== WIRE_VERSION) {
    throw rejected(
      'incompatible_version',
      `The bootstrap file is for another wire version; this app speaks ${WIRE_VERSION}. Update one of the two.`,
    );
  }
  if (!isCoreUrl(file.core_url)) {
    throw invalid('core_url must be https (http on this machine only), end in /api/v1 and have no query');
  }
  return file;
}

export function isCoreUrl(text: string): boolean {
  try {
    const url = new URL(text);
    const plain = url.username === '' && url.password === '' && !text.includes('?') && !text.includes('#');
    const scheme = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
    return plain && scheme && url.pathname.endsWith('/api/v1');
  } catch {
    return false;
  }
}

/** Parsing keeps the last of two equal members; a file that names one twice is ambiguous and refused. */
function hasRepeatedTopMember(text: string): boolean {
  const names = Object.keys(schema.shape);
  const flat = text.replace(/"(?:[^"\\]|\\.)*"\s*(?=[,}\]])/g, '""');
  return names.some((name) => flat.split(`"${name}"`).length > 2);
}
