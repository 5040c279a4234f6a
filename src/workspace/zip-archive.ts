import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { isApiPath } from '../protocol/ids.ts';
import { isWindowsName } from './names.ts';
import { WorkspaceError } from './workspace-error.ts';

/** Bounds of one archive (environment-workspace 6). */
export interface ArchiveLimits {
  readonly packedBytes: number;
  readonly expandedBytes: number;
  readonly entries: number;
}
export const archiveLimits: ArchiveLimits = {
  packedBytes: 5 * 1024 * 1024,
  expandedBytes: 20 * 1024 * 1024,
  entries: 1_000,
};

export interface ArchiveFile {
  /** Relative, slash-separated, without `.` and `..`. */
  readonly path: string;
  readonly data: Buffer;
}

const inflate = promisify(inflateRaw) as (
  data: Buffer,
  options: { maxOutputLength: number },
) => Promise<Buffer>;

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const UNIX = 3;
const TYPE = 0o170000;
const FILE = 0o100000;
const FOLDER = 0o040000;

interface Entry {
  readonly path: string;
  readonly folder: boolean;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly header: number;
}

/**
 * The regular files of a zip archive, or why it is refused before anything was unpacked: links, devices, names that
 * lead elsewhere or collide where case or form do not count, encryption, overlapping data, and anything larger than
 * its bounds or than it says.
 * @throws WorkspaceError `invalid`, `limit`.
 */
export async function readArchive(
  bytes: Buffer,
  limits: ArchiveLimits = archiveLimits,
): Promise<ArchiveFile[]> {
  if (bytes.length > limits.packedBytes) throw tooLarge('the archive');
  const { entries, start } = centralDirectory(bytes, limits);
  refuseCollisions(entries);
  const files = entries.filter((entry) => !entry.folder);
  if (files.reduce((sum, file) => sum + file.size, 0) > limits.expandedBytes) throw tooLarge('its content');
  const unpacked: ArchiveFile[] = [];
  let end = 0;
  for (const file of [...entries].sort((a, b) => a.header - b.header)) {
    const at = dataOf(bytes, file, start);
    if (file.header < end) throw wrong('two of its files share their data');
    end = at + file.packed;
    if (end > start) throw wrong('a file lies outside of it');
    if (file.folder) continue;
    const packed = bytes.subarray(at, end);
    const data = file.method === 0 ? Buffer.from(packed) : await unpack(packed, file.size);
    if (data.length !== file.size) throw wrong('a file has another size than it says');
    if ((await crc32(data)) !== file.crc) throw wrong('a file is damaged');
    unpacked.push({ path: file.path, data });
  }
  return unpacked;
}

async function unpack(packed: Buffer, size: number): Promise<Buffer> {
  try {
    return await inflate(packed, { maxOutputLength: Math.max(1, size) });
  } catch (error) {
    throw new WorkspaceError('invalid', 'a file cannot be unpacked to the size it says', error);
  }
}

function centralDirectory(bytes: Buffer, limits: ArchiveLimits): { entries: Entry[]; start: number } {
  const end = endRecord(bytes);
  const count = bytes.readUInt16LE(end + 10);
  const size = bytes.readUInt32LE(end + 12);
  const start = bytes.readUInt32LE(end + 16);
  const oneDisk = bytes.readUInt32LE(end + 4) === 0 && bytes.readUInt16LE(end + 8) === count;
  if (!oneDisk || start + size !== end) throw wrong('its directory is not one we read');
  if (count > limits.entries) throw tooLarge('the number of its entries');
  const entries: Entry[] = [];
  let at = start;
  for (let n = 0; n < count; n++) {
    if (at + 46 > end || bytes.readUInt32LE(at) !== CENTRAL) throw wrong('its directory is damaged');
    const nameLength = bytes.readUInt16LE(at + 28);
    const next = at + 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    if (next > end) throw wrong('its directory is damaged');
    entries.push(entryAt(bytes, at, nameLength));
    at = next;
  }
  if (at !== end) throw wrong('its directory is damaged');
  return { entries, start };
}

function endRecord(bytes: Buffer): number {
  for (let at = bytes.length - 22; at >= 0 && at >= bytes.length - 22 - 0xffff; at--) {
    const fits = bytes.readUInt32LE(at) === END && at + 22 + bytes.readUInt16LE(at + 20) === bytes.length;
    if (fits) return at;
  }
  throw wrong('it is no zip archive');
}

function entryAt(bytes: Buffer, at: number, nameLength: number): Entry {
  const raw = bytes.subarray(at + 46, at + 46 + nameLength);
  const text = raw.toString('utf8');
  const flags = bytes.readUInt16LE(at + 8);
  const method = bytes.readUInt16LE(at + 10);
  if (!Buffer.from(text, 'utf8').equals(raw)) throw wrong('a name in it is no UTF-8');
  if ((flags & 0x41) !== 0) throw wrong('it is encrypted');
  if (method !== 0 && method !== 8) throw wrong('a file in it is packed in a way we do not read');
  const folder = text.endsWith('/');
  const path = folder ? text.slice(0, -1) : text;
  const safe = isApiPath(path, { rootAllowed: false }) && path.split('/').every(isWindowsName);
  if (!safe) throw wrong('a name in it leads elsewhere or cannot exist everywhere');
  const type = bytes.readUInt8(at + 5) === UNIX ? (bytes.readUInt32LE(at + 38) >>> 16) & TYPE : 0;
  if (type !== 0 && type !== (folder ? FOLDER : FILE)) throw wrong('it holds a link or a special file');
  const packed = bytes.readUInt32LE(at + 20);
  const size = bytes.readUInt32LE(at + 24);
  if (method === 0 && packed !== size) throw wrong('a file has two sizes');
  if (folder && size !== 0) throw wrong('a folder in it has content');
  const crc = bytes.readUInt32LE(at + 16);
  return { path, folder, method, crc, packed, size, header: bytes.readUInt32LE(at + 42) };
}

/** Where the data of an entry begins; its own header must say the same name. */
function dataOf(bytes: Buffer, entry: Entry, limit: number): number {
  const { header } = entry;
  if (header + 30 > limit || bytes.readUInt32LE(header) !== LOCAL) throw wrong('a file in it is damaged');
  const nameLength = bytes.readUInt16LE(header + 26);
  const name = bytes.subarray(header + 30, header + 30 + nameLength).toString('utf8');
  if (name !== (entry.folder ? `${entry.path}/` : entry.path)) throw wrong('a file has two names');
  return header + 30 + nameLength + bytes.readUInt16LE(header + 28);
}

/** As on a disk where case and Unicode form do not count, and a file cannot be a folder. */
function refuseCollisions(entries: readonly Entry[]): void {
  const fold = (path: string): string => path.normalize('NFC').toLowerCase();
  const files = new Set<string>();
  const folders = new Set<string>();
  for (const entry of entries) {
    const path = fold(entry.path);
    if (files.has(path) || (folders.has(path) && !entry.folder)) throw wrong('two names in it collide');
    if (entry.folder) folders.add(path);
    else files.add(path);
    const parts = path.split('/');
    for (let n = 1; n < parts.length; n++) folders.add(parts.slice(0, n).join('/'));
  }
  for (const path of files) if (folders.has(path)) throw wrong('two names in it collide');
}

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});
const STEP = 1024 * 1024;

async function crc32(data: Buffer): Promise<number> {
  let crc = 0xffffffff;
  for (let from = 0; from < data.length; from += STEP) {
    if (from > 0) await new Promise<void>((resolve) => setImmediate(resolve));
    for (const byte of data.subarray(from, from + STEP))
      crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

const wrong = (what: string): WorkspaceError => new WorkspaceError('invalid', what);
const tooLarge = (what: string): WorkspaceError => new WorkspaceError('limit', `${what} is too large`);
