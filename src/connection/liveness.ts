import type { Clock, Timer } from '../platform/clock.ts';

/**
 * Watches one open connection (runtime-behaviour 1.8 Ours): a ping every interval, dead after three intervals without
 * a frame or a pong; and the machine: a wall clock that ran ahead of the monotonic one, or a tick that came far too
 * late, means it slept or the clock was set, so the connection is asked at once and has five seconds to answer.
 */
export const livenessLimits = { silentIntervals: 3, wakeAnswer: 5_000, tick: 5_000, gap: 15_000 } as const;

export class Liveness {
  readonly #clock: Clock;
  readonly #interval: number;
  readonly #ping: () => void;
  readonly #dead: () => void;
  #lastAlive: number;
  #timers: Timer[] = [];
  #checking: Timer | null = null;
  #stopped = false;

  constructor(options: { clock: Clock; intervalMs: number; ping: () => void; dead: () => void }) {
    this.#clock = options.clock;
    this.#interval = options.intervalMs;
    this.#ping = options.ping;
    this.#dead = options.dead;
    this.#lastAlive = options.clock.monotonic();
    this.#beat();
  }

  alive(): void {
    this.#lastAlive = this.#clock.monotonic();
    this.#checking?.cancel();
    this.#checking = null;
  }

  /** The machine woke or the network changed: prove the connection now. */
  check(): void {
    if (this.#stopped || this.#checking) return;
    this.#ping();
    this.#checking = this.#clock.after(livenessLimits.wakeAnswer, () => {
      this.#checking = null;
      if (!this.#stopped) this.#dead();
    });
  }
  get underCheck(): boolean {
    return this.#checking !== null;
  }

  stop(): void {
    this.#stopped = true;
    this.#checking?.cancel();
    for (const timer of this.#timers) timer.cancel();
    this.#timers = [];
  }

  #beat(): void {
    if (this.#stopped) return;
    this.#timers = [
      this.#clock.after(
        this.#interval,
        () => {
          if (this.#stopped) return;
          if (this.#clock.monotonic() - this.#lastAlive >= livenessLimits.silentIntervals * this.#interval) {
            this.#dead();
            return;
          }
          this.#ping();
          this.#beat();
        },
        { background: true },
      ),
    ];
  }
}

/** Calls `onWake` when the machine seems to have slept or its clock was set. Returns the stopper. */
export function watchClock(clock: Clock, onWake: () => void): () => void {
  let wall = clock.now();
  let mono = clock.monotonic();
  let timer: Timer;
  let stopped = false;
  const tick = (): void => {
    if (stopped) return;
    const elapsedWall = clock.now() - wall;
    const elapsedMono = clock.monotonic() - mono;
    wall = clock.now();
    mono = clock.monotonic();
    const jumped = Math.abs(elapsedWall - elapsedMono) > livenessLimits.gap;
    const late = elapsedMono > livenessLimits.tick + livenessLimits.gap;
    timer = clock.after(livenessLimits.tick, tick, { background: true });
    if (jumped || late) onWake();
  };
  timer = clock.after(livenessLimits.tick, tick, { background: true });
  return () => {
    stopped = true;
    timer.cancel();
  };
}
