import { mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Says that an entry is ours: another's of the same name is left as it is. */
const mark = 'X-Agent-Runtime=';

/** A desktop entry that starts `program` in the tray. */
export function autostartEntry(program: string): string {
  return entryOf(execOf(program, '--hidden'), 'X-GNOME-Autostart-enabled=true', `${mark}autostart`);
}

/** A desktop entry that hands links of `scheme` to `program`, and is in no menu. */
export const linkEntry =
  (scheme: string) =>
  (program: string): string =>
    entryOf(execOf(program, '%u'), 'NoDisplay=true', `MimeType=x-scheme-handler/${scheme};`, `${mark}links`);

function entryOf(...lines: readonly string[]): string {
  return ['[Desktop Entry]', 'Type=Application', 'Name=Agent Runtime', ...lines, ''].join('\n');
}

/**
 * The format takes the value apart twice, first as a string and then as a quoted argument, so what is special to the
 * second is escaped twice.
 */
function execOf(program: string, argument: string): string {
  const quoted = program.replace(/(["`$\\])/g, '\\$1').replace(/%/g, '%%');
  const value = quoted
    .replace(/\\/g, '\\\\')
    .replace(/\n/g, '\\n')
    .replace(/\r/g, '\\r')
    .replace(/\t/g, '\\t');
  return `Exec="${value}" ${argument}`;
}

/** One entry of this app on a Linux desktop. Changes follow each other in their order. */
export class DesktopEntry {
  readonly #path: string;
  readonly #entry: (program: string) => string;
  #work: Promise<unknown> = Promise.resolve();

  constructor(path: string, entry: (program: string) => string) {
    this.#path = path;
    this.#entry = entry;
  }

  /**
   * Resolves with what became of it: `foreign` and `hidden` (a person switched it off in the settings of the desktop)
   * are left as they are. Rejects with the system's error.
   */
  set(wanted: boolean, program: string): Promise<'done' | 'foreign' | 'hidden'> {
    const next = this.#work.then(() => this.#set(wanted, program));
    this.#work = next.catch(() => undefined);
    return next;
  }

  async #set(wanted: boolean, program: string): Promise<'done' | 'foreign' | 'hidden'> {
    const entry = this.#entry(program);
    const found = await readFile(this.#path, 'utf8').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    // Entries of before the mark was there are known by their words.
    const ours = found === null || found.includes(mark) || /^Exec=.* --hidden$/m.test(found);
    if (!ours) return 'foreign';
    if (!wanted) {
      if (found === null) return 'done';
      // Another copy of this app may be the one that it starts.
      const exec = entry.split('\n').find((line) => line.startsWith('Exec='));
      if (!found.split('\n').includes(exec ?? '')) return 'foreign';
      await unlink(this.#path);
      return 'done';
    }
    if (found !== null && /^Hidden=true$/m.test(found)) return 'hidden';
    if (found === entry) return 'done';
    await mkdir(dirname(this.#path), { recursive: true });
    await writeFile(this.#path, entry);
    return 'done';
  }
}
