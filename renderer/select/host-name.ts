import { codePointName } from './code-text.ts';

/** A host as it would be read beside the host as it is: punycode decoded, letters outside ASCII named. */
export interface HostName {
  /** As the agent gave it. */
  readonly written: string;
  /** Decoded, or null where there is nothing to decode. */
  readonly decoded: string | null;
  /** "а (U+0430)", each once: letters that can look like others. */
  readonly foreign: readonly string[];
  /** The name to read, cut at letters outside ASCII. */
  readonly pieces: readonly { readonly text: string; readonly foreign: boolean }[];
}

const base = 36;
const tMin = 1;
const tMax = 26;
const skew = 38;
const damp = 700;

function adapt(delta: number, points: number, first: boolean): number {
  let value = first ? Math.floor(delta / damp) : delta >> 1;
  value += Math.floor(value / points);
  let k = 0;
  while (value > ((base - tMin) * tMax) >> 1) {
    value = Math.floor(value / (base - tMin));
    k += base;
  }
  return k + Math.floor(((base - tMin + 1) * value) / (value + skew));
}

/** Decodes one punycode label without its `xn--` (RFC 3492), or null when it is not punycode. */
export function decodePunycode(label: string): string | null {
  const split = label.lastIndexOf('-');
  const output = split > 0 ? Array.from(label.slice(0, split), (c) => c.charCodeAt(0)) : [];
  let n = 128;
  let i = 0;
  let bias = 72;
  for (let index = split > 0 ? split + 1 : 0; index < label.length;) {
    const before = i;
    let weight = 1;
    for (let k = base; ; k += base) {
      const code = label.charCodeAt(index++);
      const digit =
        code >= 48 && code <= 57
          ? code - 22
          : code >= 97 && code <= 122
            ? code - 97
            : code >= 65 && code <= 90
              ? code - 65
              : base;
      if (digit >= base) return null;
      i += digit * weight;
      const threshold = Math.min(Math.max(k - bias, tMin), tMax);
      if (digit < threshold) break;
      weight *= base - threshold;
    }
    const length = output.length + 1;
    bias = adapt(i - before, length, before === 0);
    n += Math.floor(i / length);
    i %= length;
    if (n > 0x10ffff || i < 0) return null;
    output.splice(i, 0, n);
    i += 1;
  }
  return String.fromCodePoint(...output);
}

export function hostName(written: string): HostName {
  const labels = written.split('.').map((label) => {
    if (!/^xn--/i.test(label)) return label;
    return decodePunycode(label.slice(4).toLowerCase()) ?? label;
  });
  const decoded = labels.join('.');
  const foreign = [...new Set(Array.from(decoded).filter((c) => (c.codePointAt(0) ?? 0) > 127))].map(
    (c) => `${c} (${codePointName(c)})`,
  );
  const pieces = decoded
    .split(/([^\u0000-\u007f]+)/u)
    .filter((text) => text !== '')
    .map((text) => ({ text, foreign: (text.codePointAt(0) ?? 0) > 127 }));
  return { written, decoded: decoded === written ? null : decoded, foreign, pieces };
}
