import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';

const placeSchema = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });
export type WindowPlace = z.infer<typeof placeSchema>;

export const leastSize = { width: 720, height: 520 } as const;
const usualSize = { width: 1080, height: 720 } as const;
/** So much of the bar of a window must be on a display for a hand to find and move it. */
const grip = { width: 120, height: 20, bar: 40 } as const;

const overlap = (start: number, length: number, from: number, size: number): number =>
  Math.min(start + length, from + size) - Math.max(start, from);

/** Whether the window can be found and moved: its bar lies on one of these displays. */
export const isOnDisplay = (place: WindowPlace, displays: readonly WindowPlace[]): boolean =>
  displays.some(
    (area) =>
      overlap(place.x, place.width, area.x, area.width) > grip.width &&
      overlap(place.y, grip.bar, area.y, area.height) > grip.height,
  );

/**
 * Where a window goes whose last place is `place`: there, if a display is still there; else where the system puts new
 * ones. `displays` are the work areas, the main one first. Never larger than that one, never below the least size.
 */
export function placeOn(
  place: WindowPlace | null,
  displays: readonly WindowPlace[],
): { readonly width: number; readonly height: number; readonly x?: number; readonly y?: number } {
  const wanted = place ?? usualSize;
  const stays = place !== null && isOnDisplay(place, displays);
  const room = stays ? null : displays[0];
  const fit = (length: number, least: number, most: number | undefined): number =>
    Math.max(least, Math.min(length, most ?? length));
  const size = {
    width: fit(wanted.width, leastSize.width, room?.width),
    height: fit(wanted.height, leastSize.height, room?.height),
  };
  return stays ? { ...size, x: place.x, y: place.y } : size;
}

/** Where the window was. Losing it costs nothing, so a failure to keep it is no failure. */
export class WindowPlaceStore {
  readonly #path: string;
  constructor(path: string) {
    this.#path = path;
  }
  /** Read at the moment a window is made, before anything can be shown. */
  load(): WindowPlace | null {
    try {
      const parsed = placeSchema.safeParse(JSON.parse(readFileSync(this.#path, 'utf8')));
      return parsed.success ? parsed.data : null;
    } catch {
      return null;
    }
  }
  async save(place: WindowPlace): Promise<void> {
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      await writeFile(this.#path, JSON.stringify(place), { mode: 0o600 });
    } catch {
      return;
    }
  }
}
