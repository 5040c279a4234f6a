import type { RuntimeFrame, SendResult, Sender } from '../../../src/runtime/ports.ts';
import type { ScriptFrame } from '../../../src/conformance/scenario.ts';
import { encodeFrame } from '../../../src/protocol/codec.ts';
import { isJsonObject } from '../../../src/protocol/presence.ts';
import type { ScheduleClock } from './clock.ts';

export type Fate = 'written' | 'failed';

export interface SenderHooks {
  /** The Runtime asked for it; what becomes of it is told later. */
  attempted(frame: ScriptFrame): void;
  heard(frame: ScriptFrame): void;
  gaveUp(frame: ScriptFrame): void;
}

interface Waiting {
  readonly frame: ScriptFrame;
  settle(fate: Fate): void;
  /** Its sender stopped waiting; it may leave all the same. */
  abandoned: boolean;
}

/**
 * The way to Core as a schedule wants it: written at once, failing, or held back until it is let go or its budget is
 * over. What was held back and given up leaves later all the same, as a queued frame of a real socket may.
 */
export class ScheduleSender implements Sender {
  readonly #clock: ScheduleClock;
  readonly #hooks: SenderHooks;
  readonly #waiting: Waiting[] = [];
  backedUp = false;
  /** How many of the next frames fail. */
  failing = 0;
  blocked = false;
  tooLarge = false;
  /** The connection is gone: every frame fails. */
  lost = false;

  constructor(clock: ScheduleClock, hooks: SenderHooks) {
    this.#clock = clock;
    this.#hooks = hooks;
  }

  async send(frame: RuntimeFrame, budgetMs: number | null): Promise<SendResult> {
    return this.#enter(frame, budgetMs);
  }

  async stream(frame: RuntimeFrame): Promise<'entered' | 'failed' | 'too_large'> {
    if (this.tooLarge && frame.type === 'delta') {
      this.tooLarge = false;
      return 'too_large';
    }
    return (await this.#enter(frame, null)) === 'written' ? 'entered' : 'failed';
  }

  /** Everything that was held back leaves, in order. */
  release(): void {
    this.blocked = false;
    for (const waiting of this.#waiting.splice(0)) {
      if (this.lost) this.#giveUp(waiting);
      else {
        this.#hooks.heard(waiting.frame);
        waiting.settle('written');
      }
    }
  }

  lose(): void {
    this.lost = true;
    this.release();
  }

  #enter(frame: RuntimeFrame, budgetMs: number | null): Promise<Fate> {
    const seen = seenFrame(frame);
    this.#hooks.attempted(seen);
    // While frames wait, one that comes later cannot fail before them.
    if (this.lost || (this.failing > 0 && !this.blocked)) {
      if (this.failing > 0) this.failing--;
      this.#hooks.gaveUp(seen);
      return Promise.resolve('failed');
    }
    if (!this.blocked) {
      this.#hooks.heard(seen);
      return Promise.resolve('written');
    }
    return new Promise((resolve) => {
      const waiting: Waiting = {
        frame: seen,
        abandoned: false,
        settle: (fate) => {
          timer?.cancel();
          resolve(fate);
        },
      };
      const timer =
        budgetMs === null
          ? null
          : this.#clock.after(budgetMs, () => {
              this.#giveUp(waiting);
            });
      this.#waiting.push(waiting);
    });
  }

  #giveUp(waiting: Waiting): void {
    if (waiting.abandoned) return;
    waiting.abandoned = true;
    this.#hooks.gaveUp(waiting.frame);
    waiting.settle('failed');
  }
}

/** As Core would read it: encoded by the one encoder, which refuses what may not be sent. */
function seenFrame(frame: RuntimeFrame): ScriptFrame {
  const encoded: unknown = JSON.parse(encodeFrame(frame.type, frame).text);
  const payload = isJsonObject(encoded) && isJsonObject(encoded['payload']) ? encoded['payload'] : {};
  return { type: frame.type, id: frame.id ?? '', payload };
}
