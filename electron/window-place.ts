import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';

const placeSchema = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });
export type WindowPlace = z.infer<typeof placeSchema>;

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
