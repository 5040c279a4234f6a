import * as z from 'zod';

import { isAbsentList, isJsonObject, memberOf, sendableValues, type Presence } from './presence.ts';

/**
 * The structure of a payload schema, read once from the schema itself: the encoder and the search for undeclared
 * members are derived from it, so that there is no second description of a frame.
 */
type Node =
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, Field> }
  | { readonly kind: 'list'; readonly element: Node }
  | { readonly kind: 'value'; readonly sends: ReadonlySet<string> | undefined };
interface Field {
  readonly presence: Presence;
  readonly node: Node;
}

const nodes = new WeakMap<z.ZodType, Node>();

function nodeOf(schema: unknown): Node {
  if (!(schema instanceof z.ZodType)) return { kind: 'value', sends: undefined };
  const known = nodes.get(schema);
  if (known) return known;
  const node = buildNode(schema);
  nodes.set(schema, node);
  return node;
}

function buildNode(schema: z.ZodType): Node {
  if (schema instanceof z.ZodObject) {
    const fields = new Map<string, Field>();
    for (const [name, member] of Object.entries(schema.shape)) {
      if (!(member instanceof z.ZodType)) continue;
      const { presence, inner } = memberOf(member);
      fields.set(name, { presence, node: nodeOf(inner) });
    }
    return { kind: 'object', fields };
  }
  if (schema instanceof z.ZodArray) return { kind: 'list', element: nodeOf(schema.element) };
  if (schema instanceof z.ZodPipe) return nodeOf(schema.in);
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return nodeOf(schema.unwrap());
  const sends = sendableValues(schema);
  return { kind: 'value', sends: sends && new Set(sends) };
}

/** A payload that our senders must not write. `path` is a JSON pointer in the payload. */
export class FrameEncodeError extends Error {
  readonly path: string;
  constructor(type: string, path: string) {
    super(`A ${type} frame may not be sent like this: see ${path === '' ? 'its body' : path}.`);
    this.name = 'FrameEncodeError';
    this.path = path;
  }
}

const NOTHING = Symbol('left out');

/** The payload as it is written: zero values left out or written as its schema says (wire 1.3). */
export function encodePayload(type: string, schema: z.ZodType, payload: unknown): Record<string, unknown> {
  const encoded = encodeNode(nodeOf(schema), payload, (path) => new FrameEncodeError(type, path), '', true);
  return isJsonObject(encoded) ? encoded : {};
}

/** What was received, as a sender would write it again: without the rules that only our own senders keep. */
export function canonicalPayload(schema: z.ZodType, payload: unknown): unknown {
  return encodeNode(nodeOf(schema), payload, (path) => new FrameEncodeError('received', path), '', false);
}

type Refuse = (path: string) => FrameEncodeError;

function encodeNode(node: Node, value: unknown, refuse: Refuse, path: string, sending: boolean): unknown {
  if (node.kind === 'list') {
    if (isAbsentList(value)) return null;
    if (!Array.isArray(value)) return value;
    return value.map((element, index) =>
      encodeNode(node.element, element, refuse, `${path}/${index}`, sending),
    );
  }
  if (node.kind === 'object') {
    if (!isJsonObject(value)) return value;
    const encoded: Record<string, unknown> = {};
    for (const [name, field] of node.fields) {
      const member = encodeField(field, value[name], refuse, `${path}/${name}`, sending);
      if (member !== NOTHING) encoded[name] = member;
    }
    return encoded;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw refuse(path);
  if (sending && node.sends && typeof value === 'string' && !node.sends.has(value)) throw refuse(path);
  return value;
}

function encodeField(field: Field, value: unknown, refuse: Refuse, path: string, sending: boolean): unknown {
  if (value === undefined || (value === null && field.presence !== 'nullable')) {
    if (field.presence === 'optional' || field.presence === 'given') return NOTHING;
    if (field.presence === 'nullable') return null;
    if (value === undefined) throw refuse(path);
  }
  const isZeroText = value === '' || value === 0 || value === false;
  if (field.presence === 'optional' && isZeroText) return NOTHING;
  if (sending && field.presence === 'expected' && (isZeroText || isAbsentList(value))) throw refuse(path);
  const encoded = encodeNode(field.node, value, refuse, path, sending);
  return field.presence === 'optional' && isEmpty(encoded) ? NOTHING : encoded;
}

const isEmpty = (value: unknown): boolean =>
  value === null ||
  (Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0);

/** JSON pointer, below the payload, of the first member that the schema does not declare; undefined if there is none. */
export function undeclaredMember(schema: z.ZodType, payload: unknown): string | undefined {
  return searchUndeclared(nodeOf(schema), payload, '');
}

function searchUndeclared(node: Node, value: unknown, path: string): string | undefined {
  if (node.kind === 'list' && Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      const found = searchUndeclared(node.element, element, `${path}/${index}`);
      if (found !== undefined) return found;
    }
  }
  if (node.kind === 'object' && isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const field = node.fields.get(name);
      const here = `${path}/${pointerToken(name)}`;
      const found = field ? searchUndeclared(field.node, member, here) : here;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

export const pointerToken = (token: string | number): string =>
  String(token).replaceAll('~', '~0').replaceAll('/', '~1');
