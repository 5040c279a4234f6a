import type { ScriptFrame } from './scenario.ts';

/** Members of a recorded frame, as zero values where they are absent or of another type. */
export const text = (frame: ScriptFrame, member: string): string => {
  const value = frame.payload[member];
  return typeof value === 'string' ? value : '';
};
export const flag = (frame: ScriptFrame, member: string): boolean => frame.payload[member] === true;
export const number = (frame: ScriptFrame, member: string): number => {
  const value = frame.payload[member];
  return typeof value === 'number' ? value : 0;
};

/** Counts what its keys name. */
export class Tally {
  readonly #counts = new Map<string, number>();
  add(key: string, by = 1): number {
    const count = this.of(key) + by;
    this.#counts.set(key, count);
    return count;
  }
  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
  clear(key: string): void {
    this.#counts.delete(key);
  }
}
