import { mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Says that an entry is ours: another's of the same name is left as it is. */
const mark = 'X-Agent-Runtime=autostart';

/**
 * A desktop entry that starts `program` in the tray. The format takes the value apart twice, first as a string and then
 * as a quoted argument, so what is special to the second is escaped twice.
 */
export function autostartEntry(program: string): string {
  return [
    '[Desktop Entry]',
    'Type=Application',
    'Name=Agent Runtime',
    execOf(program),
    'X-GNOME-Autostart-enabled=true',
    mark,
    '',
  ].join('\n');
}

function execOf(program: string): string {
  const argument = program.replace(/(["`$\\])/g, '\\$1').replace(/%/g, '%%');
  const value = argument
    .replace(/\\/g, '\\\\')
    .replace(/\n/g, '\\n')
    .replace(/\r/g, '\\r')
    .replace(/\t/g, '\\t');
  return `Exec="${value}" --hidden`;
}

/** The one entry of this app in the autostart folder of a Linux desktop. Changes follow each other in their order. */
export class AutostartFile {
  readonly #path: string;
  #work: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
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
    const found = await readFile(this.#path, 'utf8').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    // Entries of before the mark was there are known by their words.
    const ours = found === null || found.includes(mark) || /^Exec=.* --hidden$/m.test(found);
    if (!ours) return 'foreign';
    if (!wanted) {
      if (found === null) return 'done';
      // Another copy of this app may be the one that starts with the session.
      if (!found.includes(`${execOf(program)}\n`)) return 'foreign';
      await unlink(this.#path);
      return 'done';
    }
    if (found !== null && /^Hidden=true$/m.test(found)) return 'hidden';
    await mkdir(dirname(this.#path), { recursive: true });
    await writeFile(this.#path, autostartEntry(program));
    return 'done';
  }
}
