import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SessionBus } from '../../electron/session-bus.ts';
import { SecretService } from './secret-service.ts';

const run = promisify(execFile);

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** What a person's desktop has, of real programs: window manager, panel with a tray, notification daemon, keyring. */
export class RealDesktop {
  readonly keyring: SecretService;
  readonly #programs: readonly ChildProcess[];
  #said = '';

  private constructor(keyring: SecretService, programs: readonly ChildProcess[]) {
    this.keyring = keyring;
    this.#programs = programs;
  }

  static async start(): Promise<RealDesktop> {
    const keyring = await SecretService.start();
    const env = { ...process.env, ...keyring.env };
    const programs: ChildProcess[] = [];
    const begin = (name: string, ...args: string[]): void => {
      const program = spawn(name, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
      program.stderr?.on('data', (chunk) => (desktop.#said += String(chunk)));
      programs.push(program);
    };
    const desktop = new RealDesktop(keyring, programs);
    try {
      // Frames are for the picture alone: nobody waits for the window manager.
      begin('openbox');
      begin('trayer', '--edge', 'bottom', '--align', 'right', '--widthtype', 'request', '--height', '32');
      await desktop.#until(async () => (await desktop.placeOf('trayer')) !== null);
      begin('dunst');
      const bus = await SessionBus.open(keyring.address);
      await desktop.#until(async () => (await bus?.hasOwner('org.freedesktop.Notifications')) ?? false);
      bus?.close();
    } catch (error) {
      await desktop.close();
      throw error;
    }
    return desktop;
  }

  get env(): Readonly<Record<string, string>> {
    return this.keyring.env;
  }

  /** Where the newest visible window of a class lies; null while there is none. */
  async placeOf(className: string): Promise<Place | null> {
    const found = await run('xdotool', ['search', '--onlyvisible', '--class', className]).catch(() => null);
    const id = found?.stdout.trim().split('\n').at(-1);
    if (id === undefined || id === '') return null;
    const { stdout } = await run('xdotool', ['getwindowgeometry', '--shell', id]);
    const value = (name: string): number =>
      Number(new RegExp(`^${name}=(-?\\d+)`, 'm').exec(stdout)?.[1] ?? 0);
    return { x: value('X'), y: value('Y'), width: value('WIDTH'), height: value('HEIGHT') };
  }

  /** Waits until such a window is there and large enough to hold something. */
  async shown(className: string): Promise<Place> {
    let place: Place | null = null;
    await this.#until(async () => {
      place = await this.placeOf(className);
      return place !== null && place.width > 8;
    });
    if (place === null) throw new Error(`${className} shows nothing`);
    return place;
  }

  /** A real click: 1 left, 2 middle, 3 right. */
  async click(place: Place, button: 1 | 2 | 3): Promise<void> {
    const x = String(place.x + Math.round(place.width / 2));
    const y = String(place.y + Math.round(place.height / 2));
    await run('xdotool', ['mousemove', x, y, 'click', String(button)]);
  }

  async press(...keys: readonly string[]): Promise<void> {
    await run('xdotool', ['key', '--delay', '120', ...keys]);
  }

  /** The whole screen. */
  async picture(path: string): Promise<void> {
    await run('import', ['-window', 'root', path]);
  }

  async close(): Promise<void> {
    for (const program of this.#programs) {
      if (program.exitCode !== null || program.signalCode !== null) continue;
      const gone = new Promise((done) => program.once('exit', done));
      program.kill('SIGKILL');
      await gone;
    }
    await this.keyring.close();
  }

  /** Programs of others tell nobody when they are ready: looked at ten times a second, for ten seconds. */
  async #until(look: () => Promise<boolean>): Promise<void> {
    for (let round = 0; round < 100; round += 1) {
      if (await look()) return;
      await pause(100);
    }
    throw new Error(`The desktop did not come up. ${this.#said.slice(-500)}`);
  }
}
