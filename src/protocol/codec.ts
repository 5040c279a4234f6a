import * as z from 'zod';

import { decodeEnvelope, type Envelope } from './envelope.ts';
import { isJsonObject } from './presence.ts';
import { memberSpan } from './raw-json.ts';
import {
  definitionOf,
  type Direction,
  type FrameDefinition,
  type FramePayload,
  type FrameType,
  type FrameTypeOf,
  type KnownType,
  typesOf,
} from './registry.ts';
import { encodePayload, FrameEncodeError, pointerToken } from './schema-walk.ts';
import { fitsUtf8, utf8Length } from './utf8.ts';

/**
 * The only way in and out of the wire. Decoding tells four things apart: a frame, a known type with a body that is
 * refused, a type that is not in the registry, and a message that is no Envelope. Rules that act at dispatch (wire
 * 4.4, 5.1, 5.4 and empty ids) do not refuse here; they are functions of their families.
 */

export type Frame<T extends FrameType = FrameType> = {
  [K in T]: {
    readonly type: K;
    readonly id: string;
    readonly payload: FramePayload<K>;
    readonly trace: string | undefined;
    /** The whole message, for rules that need the raw text. */
    readonly text: string;
  };
}[T];

export type RefusalStage = 'decode' | 'validate';

/** A body that is refused. Its Envelope is good, so a reply can be correlated. */
export interface Refusal {
  readonly type: FrameType;
  readonly id: string;
  readonly trace: string | undefined;
  /** `decode`: wrong JSON type, undeclared member or too large. `validate`: a rule of the family. */
  readonly stage: RefusalStage;
  /** The wire code a Runtime answers with; undefined where the family gives no reply. */
  readonly code: string | undefined;
  /** JSON pointer in the frame. */
  readonly path: string;
  /** The parsed body, for the few ids that a reply echoes. Not validated. */
  readonly body: unknown;
}

export type Decoded<T extends FrameType = FrameType> =
  | { readonly outcome: 'frame'; readonly frame: Frame<T> }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'unknown_type'; readonly type: string; readonly id: string }
  | { readonly outcome: 'malformed' };

/** Decodes one message of `direction`; a type of the other direction counts as unknown. */
export function decodeFrame<D extends Direction>(
  message: string | Uint8Array,
  direction: D,
): Decoded<FrameTypeOf<D>> {
  const envelope = decodeEnvelope(message);
  if (!envelope) return { outcome: 'malformed' };
  const { type, id } = envelope;
  const known = knownTypes[direction].get(type);
  return known ? decodeAs(known.type, known.definition, envelope) : { outcome: 'unknown_type', type, id };
}

const knownTypes: { readonly [D in Direction]: ReadonlyMap<string, KnownType<D>> } = {
  'core-to-runtime': typesOf('core-to-runtime'),
  'runtime-to-core': typesOf('runtime-to-core'),
};

/** Decodes the body of an Envelope whose type is known. */
export function decodeBody<T extends FrameType>(type: T, envelope: Envelope): Decoded<T> {
  return decodeAs(type, definitionOf(type), envelope);
}

function decodeAs<T extends FrameType>(
  type: T,
  definition: FrameDefinition,
  { id, trace, payload: body, text }: Envelope,
): Decoded<T> {
  const fits = definition.payloadBytes === undefined || payloadFits(text, definition.payloadBytes);
  const parsed = fits ? parserOf(definition).safeParse(body) : null;
  if (parsed?.success) {
    // The parser is the one of `type`, so its output is that type's payload.
    const frame = { type, id, trace, text, payload: parsed.data } as Frame<T>;
    return { outcome: 'frame', frame };
  }
  const { stage, path } = parsed
    ? locate(parsed.error, body, definition)
    : { stage: 'decode' as const, path: '/payload' };
  const code = definition.refusal?.[stage];
  return { outcome: 'refused', refusal: { type, id, trace, stage, code, path, body } };
}

const parsers = new Map<FrameDefinition, z.ZodType>();

/** Compiled at the second use: no start pays for a family that it sees once or never. */
function parserOf(definition: FrameDefinition): z.ZodType {
  const { payload } = definition;
  const known = parsers.get(definition);
  if (known === undefined) {
    parsers.set(definition, payload);
    return payload;
  }
  if (known !== payload) return known;
  const compiled = z.compile(payload);
  parsers.set(definition, compiled);
  return compiled;
}

function payloadFits(text: string, limit: number): boolean {
  if (fitsUtf8(text, limit)) return true;
  const span = memberSpan(text, ['payload']);
  return !span || utf8Length(text.slice(span[0], span[1])) <= limit;
}

/** The stage of a refusal and the pointer of its first cause. Structure speaks before rules. */
function locate(
  error: z.ZodError,
  body: unknown,
  definition: FrameDefinition,
): { stage: RefusalStage; path: string } {
  const structural = error.issues.find((issue) => isStructural(issue, body));
  const issue = structural ?? error.issues[0];
  const stage = structural || definition.singleStage ? 'decode' : 'validate';
  if (!issue) return { stage, path: '/payload' };
  const tokens = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path;
  return { stage, path: ['/payload', ...tokens.map((token) => pointerToken(String(token)))].join('/') };
}

function isStructural(issue: z.core.$ZodIssue, body: unknown): boolean {
  if (issue.code === 'custom') return issue.params?.['stage'] === 'decode';
  const value = issue.path.reduce<unknown>((at, token) => memberAt(at, token), body);
  if (issue.code === 'invalid_value')
    return value !== undefined && value !== null && typeof value !== 'string';
  if (issue.code === 'invalid_type') return value !== undefined && value !== null;
  return true;
}

function memberAt(value: unknown, token: PropertyKey): unknown {
  if (Array.isArray(value)) return value[Number(token)];
  return isJsonObject(value) && typeof token === 'string' ? value[token] : undefined;
}

export interface EncodedFrame {
  readonly text: string;
  /** UTF-8 bytes of the Envelope, for the 4 MiB bound (`FRAME_BYTES`). */
  readonly bytes: number;
}

export interface FrameContent<T extends FrameType> {
  readonly id?: string | undefined;
  readonly payload?: FramePayload<T> | undefined;
  readonly trace?: string | undefined;
}

/**
 * One frame as text: zero values left out, finite sets closed, the family's sender rules applied.
 * @throws FrameEncodeError when the payload is one that may not be sent. Nothing was sent then.
 */
export function encodeFrame<T extends FrameType>(type: T, content: FrameContent<T>): EncodedFrame {
  const definition = definitionOf(type);
  const given = content.payload ?? {};
  const payload = encodePayload(type, definition.payload, given);
  const broken = definition.senderRule?.(given);
  if (broken !== undefined) throw new FrameEncodeError(type, `/${broken}`);
  if (!definition.hot && !parserOf(definition).safeParse(payload).success)
    throw new FrameEncodeError(type, '');
  const withBody = definition.body === 'required' || Object.keys(payload).length > 0;
  const text = stringify(type, {
    type,
    ...(content.id ? { id: content.id } : {}),
    ...(withBody ? { payload } : {}),
    ...(content.trace ? { trace: content.trace } : {}),
  });
  return { text, bytes: utf8Length(text) };
}

/** Free-form members can hold what JSON cannot write (a cycle, too many levels). */
function stringify(type: string, envelope: Record<string, unknown>): string {
  try {
    return JSON.stringify(envelope);
  } catch {
    throw new FrameEncodeError(type, '');
  }
}
