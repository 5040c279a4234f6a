import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, inflateRawSync } from 'node:zlib';

/** Where a secret was found: never the secret. */
export interface Leak {
  readonly place: string;
  readonly encoding: string;
}

/** The forms in which a secret could lie somewhere; what is compressed is unpacked and looked through as well. */
export function encodings(secret: string): ReadonlyMap<string, Buffer> {
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  const wide = Buffer.from(secret, 'utf16le');
  const each = (write: (code: number) => string): Buffer =>
    Buffer.from([...bytes].map((byte) => write(byte)).join(''), 'latin1');
  const digits = (code: number, width: number): string => code.toString(16).padStart(width, '0');
  return new Map([
    ['utf8', bytes],
    ['utf16le', wide],
    ['utf16be', Buffer.from(wide).swap16()],
    ...[0, 1, 2].map((shift) => [`base64, ${shift} before`, base64Within(bytes, shift, 'base64')] as const),
    ...[0, 1, 2].map(
      (shift) => [`base64url, ${shift} before`, base64Within(bytes, shift, 'base64url')] as const,
    ),
    ['hex', Buffer.from(hex)],
    ['HEX', Buffer.from(hex.toUpperCase())],
    ['percent', each((code) => `%${digits(code, 2).toUpperCase()}`)],
    ['JSON escapes', each((code) => `\\u${digits(code, 4)}`)],
    ['reversed', Buffer.from([...secret].reverse().join(''))],
  ]);
}

/** The characters that do not depend on what stands before and behind. */
function base64Within(bytes: Buffer, shift: number, how: 'base64' | 'base64url'): Buffer {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString(how)
    .replace(/=+$/, '');
  const whole = Math.floor(((shift + bytes.length) * 8) / 6);
  return Buffer.from(text.slice(Math.ceil((shift * 8) / 6), whole));
}

/** Each form of each secret that these bytes hold, also inside of gzip and zip members. */
export function leaksIn(place: string, bytes: Buffer, secrets: readonly string[], deep = true): Leak[] {
  const found = secrets.flatMap((secret) =>
    [...encodings(secret)].flatMap(([encoding, form]) => (bytes.includes(form) ? [{ place, encoding }] : [])),
  );
  if (!deep) return found;
  for (const inner of unpacked(bytes)) {
    found.push(
      ...leaksIn(place, inner, secrets, false).map(({ encoding }) => ({
        place,
        encoding: `gzip, ${encoding}`,
      })),
    );
  }
  return found;
}

const gzipMagic = Buffer.from([0x1f, 0x8b, 0x08]);
const zipMagic = Buffer.from('PK\u0003\u0004', 'latin1');

function* unpacked(bytes: Buffer): Generator<Buffer> {
  const read = (from: number, how: (piece: Buffer) => Buffer): Buffer | null => {
    try {
      return how(bytes.subarray(from));
    } catch {
      return null;
    }
  };
  for (let at = bytes.indexOf(gzipMagic); at >= 0; at = bytes.indexOf(gzipMagic, at + 1)) {
    const inner = read(at, gunzipSync);
    if (inner) yield inner;
  }
  for (
    let at = bytes.indexOf(zipMagic);
    at >= 0 && at + 30 < bytes.length;
    at = bytes.indexOf(zipMagic, at + 1)
  ) {
    const from = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
    const inner = read(from, inflateRawSync);
    if (inner) yield inner;
  }
}

/** Looks through every file below a folder, its names and its links as well. */
export async function leaksBelow(folder: string, secrets: readonly string[]): Promise<Leak[]> {
  const leaks: Leak[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    leaks.push(...leaksIn(`name ${path}`, Buffer.from(path), secrets, false));
    if (entry.isSymbolicLink())
      leaks.push(...leaksIn(path, Buffer.from(await readlink(path).catch(() => '')), secrets, false));
    if (!entry.isFile()) continue;
    // What went away meanwhile holds nothing any more.
    const bytes = await readFile(path).catch(() => null);
    if (bytes) leaks.push(...leaksIn(path, bytes, secrets));
  }
  return leaks;
}

/** Command line and environment of a process and of all that descend from it, as the system shows them. */
export async function leaksOfProcesses(root: number, secrets: readonly string[]): Promise<Leak[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '');
    const parent = /^\d+ \(.*\) \S (\d+)/s.exec(stat)?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const descends = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at))
      if (at === root) return true;
    return false;
  };
  const leaks: Leak[] = [];
  for (const pid of [...parents.keys()].filter(descends)) {
    for (const what of ['cmdline', 'environ']) {
      const bytes = await readFile(`/proc/${pid}/${what}`).catch(() => Buffer.alloc(0));
      leaks.push(
        ...leaksIn(`${what} of ${pid === root ? 'the app' : 'a descendant'}`, bytes, secrets, false),
      );
    }
  }
  return leaks;
}
