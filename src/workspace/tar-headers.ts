/** Headers of a POSIX tar archive with PAX extensions (IEEE Std 1003.1, pax): regular files, mode 0600, no owner. */
export const TAR_BLOCK = 512;

/** One or three header blocks of a file: a PAX record where the path does not fit the plain header. */
export function tarHeaders(path: string, size: number, mtimeSeconds: number): Buffer {
  const time = Math.max(0, Math.floor(mtimeSeconds));
  const bytes = Buffer.from(path, 'utf8');
  const ascii = bytes.length === path.length && /^[\x20-\x7e]*$/.test(path);
  if (ascii && bytes.length <= 100) return header(bytes, size, time, '0');
  const record = paxRecord('path', path);
  const padded = Buffer.alloc(Math.ceil(record.length / TAR_BLOCK) * TAR_BLOCK);
  record.copy(padded);
  return Buffer.concat([
    header(Buffer.from('PaxHeader'), record.length, time, 'x'),
    padded,
    // Readers without PAX see a cut name; the record above is what counts.
    header(bytes.subarray(0, 100), size, time, '0'),
  ]);
}

/** The end of an archive: two empty blocks. */
export const tarEnd = (): Buffer => Buffer.alloc(2 * TAR_BLOCK);

/** Zeros that fill the last block of a file. */
export const tarPadding = (size: number): Buffer =>
  Buffer.alloc((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);

/** "LENGTH key=value\n", where the length counts itself. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  while (rest + String(length).length !== length) length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
}

function header(name: Buffer, size: number, mtime: number, type: string): Buffer {
  const block = Buffer.alloc(TAR_BLOCK);
  name.copy(block, 0);
  octal(block, 100, 8, 0o600);
  octal(block, 108, 8, 0);
  octal(block, 116, 8, 0);
  octal(block, 124, 12, size);
  octal(block, 136, 12, mtime);
  block.write(type, 156, 'latin1');
  block.write('ustar\0', 257, 'latin1');
  block.write('00', 263, 'latin1');
  octal(block, 329, 8, 0);
  octal(block, 337, 8, 0);
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function octal(block: Buffer, at: number, length: number, value: number): void {
  block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
}
