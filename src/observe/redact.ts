/**
 * The last mask before a log line or a bundle leaves the process: every registered secret in plain, base64 (at its
 * three offsets, once and twice), URL, JSON, HTML, quoted-printable and hex form (UTF-8 and UTF-16). The first line of
 * defence is that secrets are never fields at all.
 */
const mask = '[secret]';

export class Redactor {
  readonly #forms = new Map<string, readonly string[]>();

  /** Short values are not masked: they would eat ordinary text. */
  register(secret: string): void {
    if (secret.length < 8 || this.#forms.has(secret)) return;
    this.#forms.set(secret, encodedForms(secret));
  }
  forget(secret: string): void {
    this.#forms.delete(secret);
  }

  redact(text: string): string {
    let out = text;
    for (const forms of this.#forms.values()) {
      for (const form of forms) if (out.includes(form)) out = out.split(form).join(mask);
    }
    // A bearer that nobody registered is still a bearer.
    return out.replace(/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/g, `$1 ${mask}`);
  }
}

export function encodedForms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const once = base64Forms(bytes);
  const forms = new Set<string>([
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    quotedPrintable(bytes),
    ...htmlForms(secret),
    ...hexForms(bytes),
    ...hexForms(Buffer.from(secret, 'utf16le')),
    ...once,
    ...[bytes.toString('base64'), ...once].flatMap((form) => base64Forms(Buffer.from(form, 'utf8'))),
  ]);
  return [...forms].filter((form) => form.length >= 8).sort((a, b) => b.length - a.length);
}

const hexForms = (bytes: Buffer): string[] => [bytes.toString('hex'), bytes.toString('hex').toUpperCase()];

function base64Forms(bytes: Buffer): string[] {
  const forms: string[] = [];
  for (const encoding of ['base64', 'base64url'] as const) {
    for (const offset of [0, 1, 2]) {
      const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString(encoding);
      // Characters that also encode neighbouring bytes differ from place to place; the middle does not.
      const core = encoded.replace(/=+$/, '').slice(offset === 0 ? 0 : offset + 1, -1);
      if (core.length >= 8) forms.push(core);
    }
  }
  return forms;
}

/** Both ways to write an apostrophe. */
function htmlForms(secret: string): string[] {
  const escaped = secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  return [escaped, escaped.replaceAll("'", '&#39;'), escaped.replaceAll("'", '&#x27;')];
}

/** Without line breaks: a log line has none, and a secret that long would be cut anywhere. */
function quotedPrintable(bytes: Buffer): string {
  return [...bytes]
    .map((byte) =>
      byte >= 33 && byte <= 126 && byte !== 61
        ? String.fromCharCode(byte)
        : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');
}
