import { ensureBuilt } from '../../build/bundle.mjs';

/** Vitest global set-up: tests that start the built programs find them as new as the sources. */
export default async function setup(): Promise<void> {
  await ensureBuilt();
}
