/**
 * Keeps the parts of the last snapshot that did not change, by reference, so that a row of an unchanged Turn is not
 * drawn again because another one printed a line.
 */
export function share<T>(previous: T | undefined, next: T): T;
export function share(previous: unknown, next: unknown): unknown {
  if (Object.is(previous, next)) return next;
  if (Array.isArray(previous) && Array.isArray(next)) {
    const old: readonly unknown[] = previous;
    const shared = next.map((item: unknown, index) => share(old[index], item));
    return shared.length === old.length && shared.every((item, index) => item === old[index])
      ? previous
      : shared;
  }
  if (isRecord(previous) && isRecord(next)) {
    const keys = Object.keys(next);
    const shared: Record<string, unknown> = {};
    let same = keys.length === Object.keys(previous).length;
    for (const key of keys) {
      shared[key] = share(previous[key], next[key]);
      same &&= Object.hasOwn(previous, key) && shared[key] === previous[key];
    }
    return same ? previous : shared;
  }
  return next;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
