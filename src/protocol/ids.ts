import { NATIVE_IDENTITY_BYTES, PATH_BYTES } from './limits.ts';
import { fitsUtf8, hasLoneSurrogate, utf8Length } from './utf8.ts';

/** The scalar rules of wire 1.4. All are questions about a text; none of them changes it. */

const CANONICAL_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';
const SHA256_TEXT = /^[0-9a-f]{64}$/;
/** Unicode White_Space. `trim` of the language differs: it knows U+FEFF and not U+0085. */
const SPACE = '\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const BLANK = new RegExp(`^[${SPACE}]*$`);
const OUTER_SPACE = new RegExp(`^[${SPACE}]|[${SPACE}]$`);
const LINE_BREAK_OR_NUL = /[\0\r\n]/;

/** 36 lower-case characters, any version, not the all-zero one. */
export const isCanonicalUuid = (text: string): boolean => CANONICAL_UUID.test(text) && text !== NIL_UUID;

/** Nothing but Unicode white space, or nothing at all. */
export const isBlank = (text: string): boolean => BLANK.test(text);

export const isSha256Text = (text: string): boolean => SHA256_TEXT.test(text);

/** An identity that a Harness made: 1–512 bytes, no outer white space, no NUL, CR or LF. */
export const isNativeIdentity = (text: string): boolean =>
  text !== '' &&
  fitsUtf8(text, NATIVE_IDENTITY_BYTES) &&
  !OUTER_SPACE.test(text) &&
  !LINE_BREAK_OR_NUL.test(text);

/** A correlation id of 1 to `limit` bytes that is not blank. */
export const isBoundedId = (text: string, limit: number): boolean =>
  !isBlank(text) && utf8Length(text) <= limit;

/** Slash-separated path relative to the workspace root. The empty text is the root and only sometimes allowed. */
export function isApiPath(text: string, options: { readonly rootAllowed: boolean }): boolean {
  if (text === '') return options.rootAllowed;
  return isPathText(text) && text.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** Absolute address below `/workspace`; the root itself only where allowed. */
export function isLogicalPath(text: string, options: { readonly rootAllowed: boolean }): boolean {
  if (text === '/workspace') return options.rootAllowed;
  return text.startsWith('/workspace/') && isPathText(text) && isClean(text);
}

/** An absolute local path in its canonical form: POSIX, or a drive or UNC path of Windows. */
export function isAbsoluteLocalPath(text: string): boolean {
  if (!fitsUtf8(text, PATH_BYTES) || hasLoneSurrogate(text) || LINE_BREAK_OR_NUL.test(text)) return false;
  if (text === '/') return true;
  if (text.startsWith('/')) return isClean(text);
  const rest = /^(?:[A-Za-z]:\\|\\\\[^\\/]+\\[^\\/]+\\?)(.*)$/.exec(text)?.[1];
  if (rest === undefined) return false;
  return rest === '' || (!rest.includes('/') && rest.split('\\').every(isPlainElement));
}

const isPathText = (text: string): boolean =>
  fitsUtf8(text, PATH_BYTES) &&
  !hasLoneSurrogate(text) &&
  !text.includes('\\') &&
  !LINE_BREAK_OR_NUL.test(text);
const isPlainElement = (part: string): boolean => part !== '' && part !== '.' && part !== '..';
const isClean = (text: string): boolean => text.slice(1).split('/').every(isPlainElement);
