import { spawn, execFile, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A session bus of its own with a real, unlocked keyring on it: what a person's desktop has. */
export class SecretService {
  readonly env: Readonly<Record<string, string>>;
  readonly #session: ChildProcess;
  readonly #folder: string;

  private constructor(env: Record<string, string>, session: ChildProcess, folder: string) {
    this.env = env;
    this.#session = session;
    this.#folder = folder;
  }

  static async start(): Promise<SecretService> {
    const folder = await mkdtemp(join(tmpdir(), 'secret-service-'));
    const runtime = join(folder, 'run');
    await mkdir(runtime, { mode: 0o700 });
    const own = { XDG_RUNTIME_DIR: runtime, XDG_DATA_HOME: join(folder, 'data') };
    const script =
      'printf word | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1 && echo "$DBUS_SESSION_BUS_ADDRESS" && exec cat';
    const session = spawn('dbus-run-session', ['--', 'bash', '-c', script], {
      env: { ...process.env, ...own, HOME: folder },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const address = await new Promise<string>((resolve, reject) => {
      createInterface({ input: session.stdout }).once('line', resolve);
      session.once('error', reject);
      session.once('exit', () => reject(new Error('The keyring did not start.')));
    });
    return new SecretService(
      { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: runtime },
      session,
      folder,
    );
  }

  /** Address of the session bus. */
  get address(): string {
    return this.env['DBUS_SESSION_BUS_ADDRESS'] ?? '';
  }

  /** As a screen lock does. */
  async lock(): Promise<void> {
    const collection = '[objectpath "/org/freedesktop/secrets/collection/login"]';
    await new Promise<void>((resolve, reject) => {
      execFile(
        'gdbus',
        [
          ...['call', '--session', '--dest', 'org.freedesktop.secrets'],
          ...['--object-path', '/org/freedesktop/secrets'],
          ...['--method', 'org.freedesktop.Secret.Service.Lock', collection],
        ],
        { env: { ...process.env, ...this.env } },
        (error) => (error ? reject(new Error(error.message)) : resolve()),
      );
    });
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#session.once('exit', resolve));
    this.#session.stdin?.end();
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}
