import { RuntimeError } from '../observe/errors.ts';
import { codeOf } from '../store/atomic-file.ts';

/** Exit codes that scripts rely on. */
export const exitCodes = { done: 0, failed: 1, usage: 2, rejected: 3, unconfirmed: 4 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Facts go to stdout, messages to stderr; with `--json` stdout holds nothing but JSON. */
export class Output {
  readonly json: boolean;
  constructor(json: boolean) {
    this.json = json;
  }

  /** One document. `text` is what a person reads instead; foreign text in it needs no care. */
  document(value: unknown, text: () => string): void {
    process.stdout.write(this.json ? `${jsonText(value, 2)}\n` : ensureEnd(plain(text())));
  }
  /** One line of a stream. */
  line(value: unknown, text: string): void {
    process.stdout.write(this.json ? `${jsonText(value)}\n` : text);
  }
  message(text: string): void {
    process.stderr.write(`${plain(text)}\n`);
  }

  failure(error: unknown): ExitCode {
    const known = error instanceof RuntimeError ? error : null;
    const code = known?.code ?? 'fault';
    const system = codeOf(error);
    const message =
      known?.message ??
      `Something went wrong${/^E[A-Z]+$/.test(system) ? ` (${system})` : ''}. The log may say more.`;
    if (this.json) process.stdout.write(`${jsonText({ error: { code, message } })}\n`);
    else this.message(message);
    switch (code) {
      case 'usage':
      case 'invalid_configuration':
      case 'invalid_bootstrap_file':
      case 'invalid_credential_file':
      case 'invalid_invitation':
        return exitCodes.usage;
      case 'incompatible_version':
      case 'credential_rejected':
      case 'binding_retired':
      case 'invitation_rejected':
      case 'other_key_bound':
        return exitCodes.rejected;
      case 'unconfirmed':
        return exitCodes.unconfirmed;
      default:
        return exitCodes.failed;
    }
  }
}

const ensureEnd = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

/** What cannot be seen or turns the direction of text, but for line ends and tabs. */
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const hexOf = (char: string): string => (char.codePointAt(0) ?? 0).toString(16).padStart(4, '0');

/** Foreign text in a terminal: hidden characters become visible codes. */
export function plain(text: string): string {
  return text.replace(hidden, (char) => (char === '\r' ? '' : `<U+${hexOf(char).toUpperCase()}>`));
}

/** JSON that a terminal shows as it is: hidden characters are escaped, which means the same. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(hidden, (char) => `\\u${hexOf(char)}`);
}
