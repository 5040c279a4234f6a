import { access, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** An agent that notes its pid and then says nothing; `stubborn`: asking it to end does not help. */
export class SilentAgent {
  readonly #note: string;
  /** The members of its entry in the configuration. */
  readonly settings: Readonly<Record<string, unknown>>;

  private constructor(script: string, note: string) {
    this.#note = note;
    this.settings = { kind: 'silent', adapter: 'acp', command: process.execPath, args: [script] };
  }

  static async make(folder: string, stubborn: boolean): Promise<SilentAgent> {
    const script = join(folder, 'silent-agent.mjs');
    const note = join(folder, 'silent-agent.pid');
    const [half, whole] = [`${note}.new`, note].map((path) => JSON.stringify(path));
    await writeFile(
      `${script}.new`,
      `import { renameSync, writeFileSync } from 'node:fs';
      ${stubborn ? "for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);" : ''}
      setInterval(() => undefined, 1e6);
      writeFileSync(${half}, String(process.pid));
      renameSync(${half}, ${whole});`,
    );
    await rename(`${script}.new`, script);
    return new SilentAgent(script, note);
  }

  /** It was started. */
  started(): Promise<boolean> {
    return access(this.#note).then(
      () => true,
      () => false,
    );
  }

  async running(): Promise<boolean> {
    try {
      return process.kill(Number(await readFile(this.#note, 'utf8')), 0);
    } catch {
      return false;
    }
  }
}
