import { deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string | Buffer;
  readonly data?: string | Buffer;
  /** Unix mode with its type. */
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: number;
  /** What the directory says instead of the truth. */
  readonly claimedSize?: number;
  readonly claimedCrc?: number;
  readonly localName?: string;
  /** Points at the data of an earlier entry. */
  readonly shareWith?: number;
}

/** A zip archive byte by byte, so that a test can lie in any of its places. */
export function zipFile(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  const offsets: number[] = [];
  let at = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name);
    const data = Buffer.from(entry.data ?? '');
    const method = entry.method ?? 8;
    const packed = method === 0 || data.length === 0 ? data : deflateRawSync(data);
    const used = data.length === 0 && method === 8 ? 0 : method;
    const crc = entry.claimedCrc ?? crcOf(data);
    const size = entry.claimedSize ?? data.length;
    const localName = Buffer.from(entry.localName ?? name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(used, 8);
    local.writeUInt32LE(crc, 14);
    local.writeUInt32LE(packed.length, 18);
    local.writeUInt32LE(size, 22);
    local.writeUInt16LE(localName.length, 26);
    const offset = entry.shareWith === undefined ? at : (offsets[entry.shareWith] ?? 0);
    offsets.push(offset);
    if (entry.shareWith === undefined) {
      locals.push(local, localName, packed);
      at += 30 + localName.length + packed.length;
    }
    const record = Buffer.alloc(46);
    record.writeUInt32LE(0x02014b50, 0);
    record.writeUInt16LE((entry.mode === undefined ? 0 : 3) * 256 + 20, 4);
    record.writeUInt16LE(entry.flags ?? 0, 8);
    record.writeUInt16LE(used, 10);
    record.writeUInt32LE(crc, 16);
    record.writeUInt32LE(packed.length, 20);
    record.writeUInt32LE(size, 24);
    record.writeUInt16LE(name.length, 28);
    record.writeUInt32LE(((entry.mode ?? 0) * 65_536) >>> 0, 38);
    record.writeUInt32LE(offset, 42);
    central.push(record, name);
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, directory, end]);
}

function crcOf(data: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
