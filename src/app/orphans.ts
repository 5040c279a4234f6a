import type { Health } from '../observe/health.ts';
import type { Logger } from '../observe/logger.ts';
import type { Orphan, ProcessLedger } from '../ownership/process-ledger.ts';
import type { Clock } from '../platform/clock.ts';
import type { Projection } from './projection.ts';

/**
 * Processes an earlier run of this app left behind when it ended without warning: found by the ledger, ended, and
 * shown. What does not end stays in the ledger and in the view, with a retry.
 */
export class Orphans {
  readonly #ledger: ProcessLedger;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #projection: Projection;
  readonly #health: Health;
  readonly #open = new Map<string, { orphan: Orphan; attempts: number; since: string }>();

  constructor(options: {
    ledger: ProcessLedger;
    clock: Clock;
    logger: Logger;
    projection: Projection;
    health: Health;
  }) {
    this.#ledger = options.ledger;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#projection = options.projection;
    this.#health = options.health;
  }

  /** Looks for what was left behind and ends it. Resolves when every one was tried once. */
  async reap(): Promise<void> {
    const found = await this.#ledger.orphans();
    for (const orphan of found) {
      this.#open.set(orphan.entry.id, {
        orphan,
        attempts: 0,
        since: new Date(this.#clock.now()).toISOString(),
      });
    }
    const ended = await Promise.all(found.map((orphan) => this.retry(orphan.entry.id)));
    const gone = ended.filter(Boolean).length;
    if (gone > 0) {
      const things = gone === 1 ? '1 process group' : `${gone} process groups`;
      this.#health.raise(
        'orphans_ended',
        `${things} of the last run, which ended without warning, ended now.`,
      );
    }
  }

  /** True when it is gone now; null when there is no such item. */
  async retry(id: string): Promise<boolean | null> {
    const item = this.#open.get(id);
    if (!item) return null;
    item.attempts++;
    this.#show(id, 'retrying', 'Left by the last run of this app, which ended without warning.');
    const result = await this.#ledger.reap(id);
    this.#logger.info('orphan.reaped', { confirmed: result.state === 'closed', attempts: item.attempts });
    if (result.state === 'closed') {
      this.#open.delete(id);
      this.#projection.endCleanup(id, 'confirmed', 'Left by the last run of this app. Ended now.');
      return true;
    }
    this.#show(id, 'unconfirmed', `Left by the last run of this app: ${result.reason}.`);
    return false;
  }

  async force(id: string): Promise<boolean> {
    if (!this.#open.delete(id)) return false;
    await this.#ledger.remove(id);
    this.#projection.endCleanup(id, 'forced', 'Recorded as gone by a person. Its end was not proven.');
    return true;
  }

  #show(id: string, state: 'unconfirmed' | 'retrying', reason: string): void {
    const item = this.#open.get(id);
    if (!item) return;
    this.#projection.setCleanup({
      id,
      kind: 'process',
      owner: item.orphan.entry.purpose,
      since: item.since,
      attempts: item.attempts,
      reason,
      state,
      pid: item.orphan.entry.process?.pid ?? item.orphan.pids[0] ?? null,
    });
  }
}
