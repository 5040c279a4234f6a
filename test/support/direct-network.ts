import { systemClock } from '../../src/platform/clock.ts';
import { Network } from '../../src/platform/network.ts';

/** A machine without a proxy, whatever its environment says. */
export const directNetwork = (): Network =>
  new Network(systemClock, () => Promise.resolve(null), { proxy: { kind: 'none' }, extraCa: null });
