/**
 * Text measured and read as UTF-8 without the platform's encoders, because this folder compiles with neither Node
 * nor DOM types. Every byte limit of the wire counts UTF-8 bytes, never UTF-16 units.
 */

/** Bytes of `text` in UTF-8. A lone surrogate counts as the three bytes of its replacement character. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}

/** Whether `utf8Length(text) <= limit`, without counting texts that are obviously short enough. */
export const fitsUtf8 = (text: string, limit: number): boolean =>
  text.length <= limit && (text.length * 3 <= limit || utf8Length(text) <= limit);

/** A text that could not have come from valid UTF-8 (JSON escapes can produce one). */
export function hasLoneSurrogate(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    if (unit > 0xdbff || !isLowSurrogate(text.charCodeAt(i + 1))) return true;
    i++;
  }
  return false;
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Decodes `bytes`; undefined when they are not valid UTF-8 (over-long forms and surrogates included). */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  let text = '';
  let units: number[] = [];
  for (let i = 0; i < bytes.length;) {
    const first = bytes[i] ?? 0;
    const length =
      first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length === 0 || i + length > bytes.length) return undefined;
    let point = length === 1 ? first : first & (0xff >> (length + 1));
    for (let k = 1; k < length; k++) {
      const next = bytes[i + k] ?? 0;
      if ((next & 0xc0) !== 0x80) return undefined;
      point = (point << 6) | (next & 0x3f);
    }
    if ((length === 3 && point < 0x800) || (length === 4 && (point < 0x10000 || point > 0x10ffff)))
      return undefined;
    if (point >= 0xd800 && point <= 0xdfff) return undefined;
    if (point < 0x10000) units.push(point);
    else units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
    i += length;
    if (units.length > 8_000) {
      text += String.fromCharCode(...units);
      units = [];
    }
  }
  return text + String.fromCharCode(...units);
}
