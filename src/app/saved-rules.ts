import * as z from 'zod';
import type { Rule as RuleView } from '../contract/view.ts';
import type { HistoryEntry } from '../contract/history.ts';
import type { Logger } from '../observe/logger.ts';
import { asError } from '../observe/errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import { RuleBook, type Rule } from '../runtime/rule-book.ts';
import { JsonDocument } from '../store/settings.ts';

/** Unix milliseconds that a date can have. */
const moment = z.number().int().min(-8.64e15).max(8.64e15);
const ruleSchema = z.object({
  id: z.string(),
  owner: z.string(),
  workspace: z.string().nullable(),
  harness: z.string(),
  sessionId: z.string(),
  runId: z.string(),
  scope: z.enum(['turn', 'session', 'folder']),
  tool: z.string(),
  match: z.string(),
  key: z.string(),
  createdAt: moment,
  expiresAt: moment.nullable(),
  used: z.number().int().min(0),
  lastUsedAt: moment.nullable(),
});
const documentSchema = z.object({ version: z.literal(1), rules: z.array(ruleSchema) });

interface RulePorts {
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly onChange: () => void;
  /** Every rule that is made or removed is on record. */
  readonly onHistory: (entry: HistoryEntry) => void;
  /** Name of the binding of an owner; null for one that is not bound any more. */
  readonly bindingOf: (owner: string) => string | null;
}

/** The rules of this machine, kept in `rules.json`. Those of a Turn live as long as it and are not written. */
export class SavedRules {
  readonly book: RuleBook;
  /** Name of a file that could not be read; nothing of it applies. */
  readonly setAside: string | null;
  readonly #ports: RulePorts;
  readonly #document: JsonDocument<typeof documentSchema>;
  /** On record, by id. */
  #known: ReadonlySet<string>;

  private constructor(
    ports: RulePorts,
    document: JsonDocument<typeof documentSchema>,
    setAside: string | null,
  ) {
    this.#ports = ports;
    this.#document = document;
    this.setAside = setAside;
    this.book = new RuleBook(ports, () => this.#changed());
    this.book.restore(document.value.rules);
    this.#known = new Set(this.book.all.map(({ id }) => id));
  }

  static async open(ports: RulePorts): Promise<SavedRules> {
    const { document, setAside } = await JsonDocument.open({
      ...{ path: ports.path, schema: documentSchema, clock: ports.clock, random: ports.random },
      initial: { version: 1, rules: [] },
    });
    return new SavedRules(ports, document, setAside);
  }

  get view(): RuleView[] {
    const iso = (at: number): string => new Date(at).toISOString();
    return this.book.all.map((rule) => ({
      id: rule.id,
      binding: this.#ports.bindingOf(rule.owner) ?? rule.owner,
      folder: rule.workspace,
      harness: rule.harness,
      tool: rule.tool,
      match: rule.match,
      scope: rule.scope,
      created_at: iso(rule.createdAt),
      expires_at: rule.expiresAt === null ? null : iso(rule.expiresAt),
      used: rule.used,
      last_used_at: rule.lastUsedAt === null ? null : iso(rule.lastUsedAt),
    }));
  }

  /** False: there is none of that id. */
  remove(id: string): boolean {
    const rule = this.book.remove(id);
    if (rule) this.#record(rule, 'removed');
    return rule !== null;
  }

  removeAll(): number {
    const all = this.book.all;
    for (const { id } of all) this.remove(id);
    return all.length;
  }

  /** Those of a binding that is gone: one that takes its name or its folder later is asked anew. */
  removeOf(owner: string): void {
    for (const rule of this.book.all) if (rule.owner === owner) this.remove(rule.id);
  }

  flushed(): Promise<void> {
    return this.#document.flushed();
  }

  #changed(): void {
    const all = this.book.all;
    for (const rule of all) if (!this.#known.has(rule.id)) this.#record(rule, 'saved');
    this.#known = new Set(all.map(({ id }) => id));
    const rules = all.filter(({ scope }) => scope !== 'turn');
    this.#document.set({ version: 1, rules: [...rules] }).catch((error: unknown) => {
      this.#ports.logger.error('rules.not_written', { error: asError(error).name });
    });
    this.#ports.onChange();
  }

  #record(rule: Rule, outcome: 'saved' | 'removed'): void {
    this.#ports.logger.info(`rule.${outcome}`, { rule: rule.id, scope: rule.scope });
    this.#ports.onHistory({
      kind: 'rule',
      id: rule.id,
      run_id: rule.runId,
      binding: this.#ports.bindingOf(rule.owner),
      harness: rule.harness,
      title: rule.match,
      at: new Date(this.#ports.clock.now()).toISOString(),
      outcome,
      decided_by: 'person',
      detail: null,
    });
  }
}
