import { networkInterfaces } from 'node:os';
import type { Clock, Timer } from './clock.ts';

/** How often the addresses of this machine are looked at. Milliseconds. */
export const addressTick = 5_000;

/** The addresses by which this machine can reach others, in an order of their own. */
export function systemAddresses(): readonly string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.toLowerCase().startsWith('fe80:'))
    .map(({ address }) => address)
    .sort();
}

/**
 * Calls `onChange` when this machine has other addresses than before: a cable, a radio network, a tunnel came or went.
 * Not when the last one went: nothing can be reached then. Returns the stopper.
 */
export function watchAddresses(
  clock: Clock,
  read: () => readonly string[],
  onChange: () => void,
): () => void {
  let before = read().join(' ');
  let timer: Timer;
  let stopped = false;
  const tick = (): void => {
    if (stopped) return;
    const now = read().join(' ');
    const changed = now !== before;
    before = now;
    timer = clock.after(addressTick, tick, { background: true });
    if (changed && now !== '') onChange();
  };
  timer = clock.after(addressTick, tick, { background: true });
  return () => {
    stopped = true;
    timer.cancel();
  };
}
