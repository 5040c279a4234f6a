import { mkdir, open, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import * as z from 'zod';
import type { Environment } from '../platform/environment.ts';

/** What a step needs to start at all; everything else of this process stays out (environment-workspace 5). */
const inherited = [
  'PATH',
  'HOME',
  'USERPROFILE',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'TEMP',
  'TMP',
  'PATHEXT',
  'LANG',
];
const inheritedOnWindows = [
  'SystemRoot',
  'ComSpec',
  'APPDATA',
  'LOCALAPPDATA',
  'ProgramFiles',
  'ProgramData',
];

const values = z.record(z.string(), z.string());

/** The prepared tool variables of one Environment: a private file that is written once. */
export class ToolEnvironment {
  readonly #file: string;
  readonly #folder: string;
  readonly #packages: string;
  readonly #environment: Environment;
  readonly #operatorFile: string | null;

  constructor(options: {
    folder: string;
    packages: string;
    environment: Environment;
    /** A JSON object of texts that the operator of this machine sets under those of the Session. */
    operatorFile: string | null;
  }) {
    this.#folder = options.folder;
    this.#file = join(options.folder, 'environment.json');
    this.#packages = options.packages;
    this.#environment = options.environment;
    this.#operatorFile = options.operatorFile;
  }

  /**
   * Writes the file. `exists`: it was written before and stays. `bad_base`: the operator's file is none.
   * @throws system errors of the write, after which its content is not known.
   */
  async write(session: Readonly<Record<string, string>>): Promise<'written' | 'exists' | 'bad_base'> {
    const base = await this.#base();
    if (!base) return 'bad_base';
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const handle = await open(this.#file, 'wx', 0o600).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return null;
      throw error;
    });
    if (!handle) return 'exists';
    try {
      await handle.writeFile(JSON.stringify({ ...this.#keys(base), ...this.#keys(session) }));
      await handle.sync();
    } finally {
      await handle.close();
    }
    return 'written';
  }

  /** What a step runs with: the little that is inherited, the prepared variables, our packages first in `PATH`. */
  async forStep(): Promise<Record<string, string>> {
    const { platform } = this.#environment;
    const names = platform === 'win32' ? [...inherited, ...inheritedOnWindows] : inherited;
    const result: Record<string, string> = platform === 'win32' ? {} : { LANG: 'C.UTF-8' };
    for (const name of names) {
      const value = this.#environment.get(name);
      if (value !== undefined) result[platform === 'win32' ? name.toUpperCase() : name] = value;
    }
    Object.assign(result, await this.read());
    result['PATH'] = this.#path(result['PATH']);
    return result;
  }

  /** What an agent's tools get on top of its own environment: the prepared variables, our packages first in `PATH`. */
  async forTools(): Promise<Record<string, string>> {
    const prepared = await this.read();
    return { ...prepared, PATH: this.#path(prepared['PATH'] ?? this.#environment.get('PATH')) };
  }

  #path(path: string | undefined): string {
    const { platform } = this.#environment;
    const npm = join(this.#packages, 'npm');
    const python = join(this.#packages, 'python');
    const bins =
      platform === 'win32' ? [npm, join(python, 'Scripts')] : [join(npm, 'bin'), join(python, 'bin')];
    return [...bins, ...(path ? [path] : [])].join(delimiter);
  }

  /** The prepared variables; none when nothing was configured. */
  async read(): Promise<Record<string, string>> {
    const text = await readFile(this.#file, 'utf8').catch(() => '{}');
    const parsed = values.safeParse(parseJson(text));
    return parsed.success ? parsed.data : {};
  }

  async #base(): Promise<Record<string, string> | null> {
    if (this.#operatorFile === null) return {};
    const text = await readFile(this.#operatorFile, 'utf8').catch(() => '');
    const parsed = values.safeParse(parseJson(text));
    return parsed.success ? parsed.data : null;
  }

  #keys(given: Readonly<Record<string, string>>): Record<string, string> {
    if (this.#environment.platform !== 'win32') return { ...given };
    return Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toUpperCase(), value]));
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
