/**
 * Binary members are standard base64 with `=` padding (wire 1.3). They stay text in payloads, so that a frame is
 * not copied until somebody needs the bytes.
 */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const SHAPE = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;
const VALUES = new Map([...ALPHABET].map((letter, value) => [letter.charCodeAt(0), value]));

/** Decoding and encoding again gives the same text: no blanks, full padding, unused trailing bits zero. */
export const isBase64 = (text: string): boolean => text.length % 4 === 0 && SHAPE.test(text);

/** Decoded length of a canonical base64 text. */
export const base64ByteLength = (text: string): number =>
  (text.length / 4) * 3 - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);

/** The first `limit` bytes (all by default) of a canonical base64 text; undefined for any other text. */
export function decodeBase64(text: string, limit = Number.POSITIVE_INFINITY): Uint8Array | undefined {
  if (!isBase64(text)) return undefined;
  const bytes = new Uint8Array(Math.min(base64ByteLength(text), limit));
  for (let i = 0, out = 0; i < text.length && out < bytes.length; i += 4) {
    const group =
      (value(text, i) << 18) | (value(text, i + 1) << 12) | (value(text, i + 2) << 6) | value(text, i + 3);
    bytes[out++] = group >> 16;
    if (out < bytes.length) bytes[out++] = (group >> 8) & 0xff;
    if (out < bytes.length) bytes[out++] = group & 0xff;
  }
  return bytes;
}

const value = (text: string, index: number): number => VALUES.get(text.charCodeAt(index)) ?? 0;

/** Canonical base64 of `bytes`. */
export function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const group = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    text += ALPHABET[group >> 18] ?? '';
    text += ALPHABET[(group >> 12) & 63] ?? '';
    text += left > 1 ? (ALPHABET[(group >> 6) & 63] ?? '') : '=';
    text += left > 2 ? (ALPHABET[group & 63] ?? '') : '=';
  }
  return text;
}
