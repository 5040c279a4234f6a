import { isJsonObject } from '../protocol/presence.ts';
import type { ScriptFrame } from './scenario.ts';

/**
 * Values that one side generates and a scenario can only name (wire 17): bound to the first value that is seen in
 * their place, repeated from then on, put into the frames of the scripted peer.
 */
export type BoundBy = 'runtime' | 'core';

type Kind =
  | 'executor'
  | 'handle'
  | 'expiry'
  | 'interaction'
  | 'preparation'
  | 'run'
  | 'session'
  | 'delivery'
  | 'input'
  | 'operation';

/** Members that hold a generated value, whatever frame they are in. */
const members: Readonly<Record<BoundBy, ReadonlyMap<string, Kind>>> = {
  runtime: new Map<string, Kind>([
    ['executor_id', 'executor'],
    ['handle', 'handle'],
    ['expires_at', 'expiry'],
    ['request_id', 'interaction'],
    ['ask_id', 'interaction'],
  ]),
  core: new Map<string, Kind>([
    ['session_id', 'session'],
    ['run_id', 'run'],
    ['delivery_id', 'delivery'],
    ['input_id', 'input'],
  ]),
};

/** What the Envelope's id names, where that is a generated value. */
const ids: Readonly<Record<BoundBy, (type: string) => Kind | undefined>> = {
  // The interaction was named by the request that opened it; a Run has no such name and stands for itself.
  runtime: (type) => (/^permission_cancel$|_decision(_ack)?$/.test(type) ? 'interaction' : undefined),
  core: (type) => {
    if (type === 'preparation_status' || type.startsWith('execution_')) return 'preparation';
    if (/^(workspace_|runtime_prepare|environment_)/.test(type)) return 'operation';
    return /^permission_cancel$|_decision$/.test(type) ? undefined : 'run';
  },
};

export class Bindings {
  readonly #by: BoundBy;
  readonly #values = new Map<string, string | number>();

  constructor(by: BoundBy) {
    this.#by = by;
  }

  /** Gives a placeholder its value before any frame shows it. */
  set(kind: Kind, placeholder: string, value: string): void {
    this.#values.set(`${kind}:${placeholder}`, value);
  }
  get(kind: Kind, placeholder: string): string | number | undefined {
    return this.#values.get(`${kind}:${placeholder}`);
  }

  /** A frame of the scripted peer, with what is bound so far in its places. */
  fill(frame: ScriptFrame): ScriptFrame {
    const payload: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(frame.payload)) {
      const kind = members[this.#by].get(name);
      const bound = kind && this.#values.get(this.#key(kind, value, frame.payload));
      payload[name] = bound ?? value;
    }
    const kind = ids[this.#by](frame.type);
    const id = kind && this.#values.get(`${kind}:${frame.id}`);
    return { type: frame.type, id: typeof id === 'string' ? id : frame.id, payload };
  }

  /** As `match`, for a frame whose other members are its sender's own choice. */
  matchGenerated(expected: ScriptFrame, actual: ScriptFrame): string | null {
    const generated = (frame: ScriptFrame): ScriptFrame => ({
      ...frame,
      payload: Object.fromEntries(
        Object.entries(frame.payload).filter(
          ([name]) => members[this.#by].has(name) && name in expected.payload,
        ),
      ),
    });
    return this.match(generated(expected), generated(actual));
  }

  /** Compares what came with what the scenario lists. Null when equal, else the first difference in words. */
  match(expected: ScriptFrame, actual: ScriptFrame): string | null {
    if (actual.type !== expected.type) return `expected ${expected.type}, got ${describe(actual)}`;
    const kind = ids[this.#by](expected.type);
    const id = kind ? this.#idOf(kind, expected.id, actual.id) : expected.id;
    if (actual.id !== id) return `${expected.type}: expected id ${String(id)}, got ${actual.id}`;
    for (const name of new Set([...Object.keys(expected.payload), ...Object.keys(actual.payload)])) {
      const place = `${expected.type}.${name}`;
      const wanted = expected.payload[name];
      const got = actual.payload[name];
      const member = members[this.#by].get(name);
      if (member && wanted !== undefined && isGenerated(got)) {
        const bound = this.#bind(this.#key(member, wanted, expected.payload), got);
        if (bound !== got) return `${place}: expected ${String(bound)}, got ${String(got)}`;
        continue;
      }
      if (!equal(wanted, got)) return `${place}: expected ${show(wanted)}, got ${show(got)}`;
    }
    return null;
  }

  /** An expiry belongs to its handle; every other placeholder is a name of its own. */
  #key(kind: Kind, placeholder: unknown, payload: Readonly<Record<string, unknown>>): string {
    return kind === 'expiry'
      ? `expiry:${String(payload['handle'])}`
      : `${kind}:${typeof placeholder === 'string' ? placeholder : ''}`;
  }

  #idOf(kind: Kind, placeholder: string, seen: string): string | number {
    if (kind === 'interaction') return this.#values.get(`${kind}:${placeholder}`) ?? placeholder;
    return this.#bind(`${kind}:${placeholder}`, seen);
  }

  /** The value that belongs there. Two placeholders never stand for one value, expiries apart. */
  #bind(key: string, seen: string | number): string | number {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const kind = key.slice(0, key.indexOf(':') + 1);
    const taken = [...this.#values].some(([other, value]) => other.startsWith(kind) && value === seen);
    if (seen === '' || seen === 0 || (taken && kind !== 'expiry:')) return `a new ${kind.slice(0, -1)}`;
    this.#values.set(key, seen);
    return seen;
  }
}

const isGenerated = (value: unknown): value is string | number =>
  typeof value === 'string' || typeof value === 'number';

/** Every listed member is equal; others may be there. */
export function contains(pattern: unknown, value: unknown): boolean {
  if (!isJsonObject(pattern)) return equal(pattern, value);
  if (!isJsonObject(value)) return false;
  return Object.entries(pattern).every(([name, member]) => contains(member, value[name]));
}

/** Deep equality of JSON values. */
export function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((v, i) => equal(v, b[i]));
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length && names.every((name) => name in b && equal(a[name], b[name]))
  );
}

const show = (value: unknown): string => (value === undefined ? 'nothing' : clip(JSON.stringify(value)));
const clip = (text: string): string => (text.length > 160 ? `${text.slice(0, 160)}…` : text);

export const describe = (frame: ScriptFrame): string => {
  const state = frame.payload['state'];
  const code = frame.payload['error_code'];
  const more = [state, code].filter((part) => typeof part === 'string').join(' ');
  return `${frame.type}${more === '' ? '' : ` (${more})`}`;
};
