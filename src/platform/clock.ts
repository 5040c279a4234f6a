/**
 * Time, as the rest of the code is allowed to see it. Durations are measured with `monotonic`; `now` is for
 * display, for the wire's absolute times and for noticing that the machine slept. Tests pass a clock they
 * advance by hand, so nothing outside `platform` calls `Date.now` or `setTimeout`.
 */
export interface Timer {
  /** Idempotent; a timer that has fired may be cancelled without effect. */
  cancel(): void;
}

export interface Clock {
  /** Wall clock, Unix milliseconds. May jump. */
  now(): number;
  /** Monotonic milliseconds from an arbitrary start. Never goes back. */
  monotonic(): number;
  /** Calls `fire` once after at least `ms` milliseconds. Does not keep the process alive when `background`. */
  after(ms: number, fire: () => void, options?: { background?: boolean }): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fire, options) {
    const handle = setTimeout(fire, ms);
    if (options?.background) handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after `ms`, or at once (with `false`) when `signal` aborts first. */
export function delay(clock: Clock, ms: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(false);
    const onAbort = (): void => {
      timer.cancel();
      resolve(false);
    };
    const timer = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve(true);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

export type Within<T> = { readonly kind: 'value'; readonly value: T } | { readonly kind: 'timeout' };

/**
 * Waits at most `ms` for `promise`. A timeout ends this wait and nothing else: whoever owns the work behind
 * the promise still owns it. A rejection of `promise` rejects here too.
 */
export function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<Within<T>> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => resolve({ kind: 'timeout' }));
    promise.then(
      (value) => {
        timer.cancel();
        resolve({ kind: 'value', value });
      },
      (error: unknown) => {
        timer.cancel();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}

/** Lets timers, sockets and other work have their turn in a long chain of promises, which would starve them. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
