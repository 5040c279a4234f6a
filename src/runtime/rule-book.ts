import { createHash } from 'node:crypto';
import type { NativePermission } from '../harness/adapter.ts';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';

export type RuleScope = 'turn' | 'session' | 'folder';

/**
 * What a person allowed beforehand: one exact request, of one agent, in one folder, for one Turn, one Session or until
 * a date. A rule is never widened; a request that differs in anything is asked.
 */
export interface Rule {
  readonly id: string;
  /** The Environment it was made for; all Sessions of the local Core have one owner. */
  readonly owner: string;
  /** Real path of the folder; null for an Environment without one. */
  readonly workspace: string | null;
  readonly harness: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly scope: RuleScope;
  readonly tool: string;
  /** What was shown to the person before it was saved. */
  readonly match: string;
  /** Identity of the request. */
  readonly key: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly used: number;
  readonly lastUsedAt: number | null;
}

/** A permission with everything a rule is bound to. */
export interface AskedPermission {
  readonly owner: string;
  readonly workspace: string | null;
  readonly harness: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly native: NativePermission;
}

/** What a saved rule would cover, shown before it is saved. */
export interface RuleCoverage {
  readonly tool: string;
  readonly match: string;
}

const limits = { match: 2_000, rules: 500, days: 365 } as const;
const DAY_MS = 24 * 60 * 60_000;

/** What a shell reads as more than one command, or as a place to write to. */
const CHAINED = /[;&|<>`\n\r]|\$\(/;
/** Characters that cannot be seen or that turn the direction of what follows. */
const HIDDEN = /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\p{Co}|\p{Cn}/u;

/**
 * What a rule for a Session or a folder would cover; null where none can be made: a chain of commands, text that does
 * not show all of itself, a change of files (each is another), or a request too long to be read before it is saved.
 */
export function coverageOf({ tool, subject }: NativePermission): RuleCoverage | null {
  const match = matchOf(subject);
  if (match === null || match.length > limits.match || HIDDEN.test(match)) return null;
  return { tool, match };
}

function matchOf(subject: NativePermission['subject']): string | null {
  switch (subject.kind) {
    case 'command': {
      const command = subject.command.trim();
      return command === '' || CHAINED.test(command) ? null : command;
    }
    case 'network':
      return [subject.protocol ?? '', subject.host, String(subject.port ?? '')].filter(Boolean).join(' ');
    case 'tool':
      return canonical(subject.input);
    case 'file_change':
      return null;
  }
}

/** Every rule of this Runtime, in memory; `changed` is told after each change so that they can be kept. */
export class RuleBook {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #changed: () => void;
  readonly #rules = new Map<string, Rule>();

  constructor(
    ports: { readonly clock: Clock; readonly random: Random },
    changed: () => void = () => undefined,
  ) {
    this.#clock = ports.clock;
    this.#random = ports.random;
    this.#changed = changed;
  }

  /** Rules of an earlier run. Those of Turns ended with it. */
  restore(rules: readonly Rule[]): void {
    for (const rule of rules) if (rule.scope !== 'turn') this.#rules.set(rule.id, rule);
  }

  get all(): readonly Rule[] {
    const now = this.#clock.now();
    return [...this.#rules.values()].filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  }

  /** The rule that answers this request; its use is counted. Null: a person is asked. */
  apply(asked: AskedPermission): Rule | null {
    const key = keyOf(asked.native);
    const found = this.all.find((rule) => rule.key === key && covers(rule, asked));
    if (!found) return null;
    const used = { ...found, used: found.used + 1, lastUsedAt: this.#clock.now() };
    this.#rules.set(found.id, used);
    this.#changed();
    return used;
  }

  /**
   * Saves what the person just allowed. `days`: null has no end. False where no rule of this scope can be made.
   * A rule for the same is replaced.
   */
  save(scope: RuleScope, asked: AskedPermission, days: number | null): boolean {
    const coverage = coverageOf(asked.native);
    // For the rest of a Turn everything the person has just seen may be repeated as it was.
    const match = scope === 'turn' ? (coverage?.match ?? asked.native.title) : coverage?.match;
    if (match === undefined || (scope === 'folder' && asked.workspace === null)) return false;
    const { owner, workspace, harness, sessionId, runId, native } = asked;
    const key = keyOf(native);
    for (const rule of this.#rules.values()) {
      if (rule.scope === scope && rule.key === key && covers(rule, asked)) this.#rules.delete(rule.id);
    }
    if (this.#rules.size >= limits.rules) return false;
    const now = this.#clock.now();
    const id = `rule_${this.#random.hex(8)}`;
    this.#rules.set(id, {
      ...{ id, owner, workspace, harness, sessionId, runId, scope, tool: native.tool, match, key },
      createdAt: now,
      expiresAt: scope !== 'folder' || days === null ? null : now + Math.min(days, limits.days) * DAY_MS,
      ...{ used: 0, lastUsedAt: null },
    });
    this.#changed();
    return true;
  }

  /** Null: there is none of that id. */
  remove(id: string): Rule | null {
    const rule = this.#rules.get(id);
    if (!rule) return null;
    this.#rules.delete(id);
    this.#changed();
    return rule;
  }

  endTurn(runId: string): void {
    const over = [...this.#rules.values()].filter((rule) => rule.scope === 'turn' && rule.runId === runId);
    for (const rule of over) this.#rules.delete(rule.id);
    if (over.length > 0) this.#changed();
  }
}

function covers(rule: Rule, asked: AskedPermission): boolean {
  const same =
    rule.owner === asked.owner && rule.workspace === asked.workspace && rule.harness === asked.harness;
  if (!same) return false;
  switch (rule.scope) {
    case 'turn':
      return rule.runId === asked.runId;
    case 'session':
      return rule.sessionId === asked.sessionId;
    case 'folder':
      return rule.workspace !== null;
  }
}

/** The same tool asked to do exactly the same. Ids of calls and the agent's own words about them make no difference. */
export function keyOf({ tool, subject, input, payload }: NativePermission): string {
  const exact = canonical({ tool, subject, input: input ?? payload });
  return createHash('sha256').update(exact).digest('hex');
}

/** JSON with the members of objects in the order of their names. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
}
