import { isJsonObject } from './presence.ts';
import { decodeUtf8 } from './utf8.ts';

/**
 * One text message is one Envelope (wire 2). Unknown members of the Envelope itself are ignored; `trace` never makes
 * it invalid.
 */
export interface Envelope {
  readonly type: string;
  /** Empty when the message has none. */
  readonly id: string;
  /** An empty object when the message has no body. */
  readonly payload: unknown;
  readonly trace: string | undefined;
  /** The message as it came, for rules that need the raw text. */
  readonly text: string;
}

/** Undefined for what is not an Envelope: such a message is dropped, the connection stays open. */
export function decodeEnvelope(message: string | Uint8Array): Envelope | undefined {
  const text = typeof message === 'string' ? message : decodeUtf8(message);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { type, id, payload, trace } = value;
  if (typeof type !== 'string' || (id !== undefined && id !== null && typeof id !== 'string'))
    return undefined;
  return {
    type,
    id: id ?? '',
    payload: payload ?? {},
    trace: typeof trace === 'string' && trace !== '' ? trace : undefined,
    text,
  };
}
