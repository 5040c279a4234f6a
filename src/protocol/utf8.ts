/** Text measured and read as UTF-8. Every byte limit of the wire counts UTF-8 bytes, never UTF-16 units. */

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

/** Part of every platform this runs on; the types of this folder know none of them. */
declare const TextDecoder: new (
  label: 'utf-8',
  options: { readonly fatal: true; readonly ignoreBOM: true },
) => { decode(bytes: Uint8Array): string };

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes `bytes`; undefined when they are not valid UTF-8 (over-long forms and surrogates included). */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}
