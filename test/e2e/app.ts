import { execFile, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { _electron, expect, type ElectronApplication, type Page } from '@playwright/test';
import { claudeProgram } from '../harness/programs.mjs';
import { leaksBelow, leaksIn, leaksOfProcesses } from '../support/canary.ts';
import type { TrayIcon } from '../support/desktop-session.ts';
import { EnrolCore } from '../support/enrol-bed.ts';
import { startFakeAnthropic, type FakeModel } from '../support/model-servers/fake-anthropic.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const packaged = join(root, 'release', 'linux-unpacked', 'agent-runtime-desktop');
const cli = join(root, 'dist', 'cli.js');
export const pictures = join(root, 'test-results', 'screens', 'app');

/** The packaged app with a state folder and a workspace of its own. */
export class DesktopBed {
  readonly home: string;
  readonly stateDir: string;
  readonly workspace: string;
  readonly model: FakeModel | null;
  readonly #env: Readonly<Record<string, string>>;
  readonly #before = new Set(EnrolCore.bearers);
  readonly #modelKey: string;
  readonly #printed: string[] = [];
  app: ElectronApplication;
  /** Kept apart: Playwright forgets it as soon as the app has exited. */
  process: ChildProcess;
  window: Page;

  private constructor(
    init: Pick<DesktopBed, 'home' | 'stateDir' | 'workspace' | 'model' | 'app' | 'window'>,
    env: Readonly<Record<string, string>>,
    modelKey: string,
  ) {
    this.#env = env;
    this.#modelKey = modelKey;
    this.home = init.home;
    this.stateDir = init.stateDir;
    this.workspace = init.workspace;
    this.model = init.model;
    this.app = init.app;
    this.process = init.app.process();
    this.window = init.window;
  }

  /**
   * `claude`: the real Claude Code on a scripted model; else only the demo. `stubborn`: started by a script that ends
   * by itself never and takes no signal that can be refused, beside a child that left its group and session.
   */
  static async open(
    options: {
      claude?: boolean;
      stubborn?: boolean;
      args?: readonly string[];
      env?: Readonly<Record<string, string>>;
      /** Further members of config.json. */
      config?: Readonly<Record<string, unknown>>;
    } = {},
  ): Promise<DesktopBed> {
    const home = await mkdtemp(join(tmpdir(), 'agent-runtime-e2e-'));
    const stateDir = join(home, 'state');
    const workspace = join(home, 'project');
    await mkdir(workspace);
    await mkdir(stateDir, { mode: 0o700 });
    const model = options.claude ? await startFakeAnthropic({}) : null;
    const modelKey = `sk-test-${randomBytes(24).toString('hex')}`;
    const harnesses: unknown[] = [{ kind: 'demo', adapter: 'demo' }];
    if (model) {
      harnesses.push({
        kind: 'claude_sdk',
        adapter: 'claude-code',
        command: options.stubborn ? await stubbornProgram(home) : await claudeProgram(),
        env: {
          ANTHROPIC_BASE_URL: model.url,
          ANTHROPIC_API_KEY: modelKey,
          HOME: home,
          CLAUDE_CONFIG_DIR: join(home, '.claude'),
          CLAUDE_CODE_MAX_RETRIES: '1',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_AUTOUPDATER: '1',
        },
      });
    }
    await writeFile(join(stateDir, 'config.json'), JSON.stringify({ harnesses, ...options.config }));
    const env = options.env ?? {};
    const app = await launch(home, stateDir, workspace, options.args ?? [], env);
    const window = await app.firstWindow();
    const bed = new DesktopBed({ home, stateDir, workspace, model, app, window }, env, modelKey);
    // Until it was looked at, a Turn would go to the demo.
    if (model) {
      await until(async () => {
        const found = (await bed.view()).bindings.flatMap(({ harnesses: offered }) => offered);
        return found.some(({ kind, available }) => kind === 'claude_sdk' && available) ? true : null;
      }, 'Claude Code to be found');
    }
    return bed;
  }

  /** Starts the app again on the same state. */
  async reopen(args: readonly string[] = []): Promise<void> {
    this.app = await launch(this.home, this.stateDir, this.workspace, args, this.#env);
    this.process = this.app.process();
    this.window = await this.app.firstWindow();
  }

  /** A command of the terminal front end against the running app. */
  async cli(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    return new Promise((done) => {
      execFile(
        process.execPath,
        [cli, ...args, '--state-dir', this.stateDir],
        { cwd: this.home },
        (error, stdout, stderr) => {
          const code = error && typeof error.code === 'number' ? error.code : error ? 1 : 0;
          this.#printed.push(stdout, stderr);
          done({ code, stdout, stderr });
        },
      );
    });
  }

  async view(): Promise<ViewLike> {
    const { stdout } = await this.cli('view', '--json');
    return JSON.parse(stdout) as ViewLike;
  }

  /** Closes the window for good: until then an opening shows the one that was there. */
  async closeWindow(): Promise<void> {
    await this.window.close();
    await expect
      .poll(() => this.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length))
      .toBe(0);
  }

  /** What the window shows, in both themes. */
  async picture(name: string): Promise<void> {
    await mkdir(pictures, { recursive: true });
    for (const [colorScheme, suffix] of [
      ['dark', '-dark'],
      ['light', ''],
    ] as const) {
      await this.window.emulateMedia({ colorScheme });
      await this.window.screenshot({ path: join(pictures, `${name}${suffix}.png`) });
    }
    await this.window.emulateMedia({ colorScheme: null });
  }

  /** The device that an enrolment made of this app. */
  async deviceOf(environmentId: string): Promise<string> {
    const path = join(this.stateDir, 'environments', environmentId, 'environment.json');
    const receipt = JSON.parse(await readFile(path, 'utf8')) as { enrollment: { device_id: string } };
    return receipt.enrollment.device_id;
  }

  /** Chooses this button in every message box from now on, or goes back. Returns what was asked since. */
  async answerDialogs(button: string): Promise<() => Promise<string[]>> {
    await this.app.evaluate(({ dialog }, wanted) => {
      const asked: string[] = [];
      Object.assign(globalThis, { askedByDialogs: asked });
      dialog.showMessageBox = (...args: unknown[]) => {
        const options = args.at(-1) as Electron.MessageBoxOptions;
        asked.push(`${options.message}\n${options.detail ?? ''}`);
        const response = options.buttons?.findIndex((label) => label.startsWith(wanted)) ?? -1;
        return Promise.resolve({
          response: response < 0 ? (options.cancelId ?? 0) : response,
          checkboxChecked: false,
        });
      };
    }, button);
    return () =>
      this.app.evaluate(() => (globalThis as unknown as { askedByDialogs: string[] }).askedByDialogs);
  }

  /** Tray icons as a panel got them, eight times as large. */
  async iconPictures(icons: ReadonlyMap<string, TrayIcon>): Promise<void> {
    await mkdir(pictures, { recursive: true });
    for (const [state, { width, pixels }] of icons) {
      const bgra = Buffer.from(pixels).swap32();
      const png = await this.app.evaluate(
        ({ nativeImage }, [text, size]) =>
          nativeImage
            .createFromBitmap(Buffer.from(text, 'base64'), { width: size, height: size })
            .resize({ width: size * 8, quality: 'good' })
            .toPNG()
            .toString('base64'),
        [bgra.toString('base64'), width] as const,
      );
      await writeFile(join(pictures, `tray-${state}.png`), Buffer.from(png, 'base64'));
    }
  }

  /** Types a task into the composer and starts it. */
  async startTurn(task: string): Promise<void> {
    await this.window.getByRole('textbox', { name: 'Task' }).fill(task);
    await this.window.getByRole('button', { name: 'Start Turn' }).click();
  }

  read(name: string): Promise<string> {
    return readFile(join(this.workspace, name), 'utf8');
  }

  /** Ends the app, and looks for what it must have kept to itself in all that it leaves behind. */
  async close(): Promise<void> {
    const process_ = this.process;
    // A link that starts the app stands on its command line: the system put it there.
    const handedOver = process_.spawnargs.join(' ');
    const hidden = this.#credentials().filter((secret) => !handedOver.includes(secret));
    const leaks = await leaksOfProcesses(process_.pid ?? 0, hidden);
    const keys = this.model ? [this.#modelKey] : [];
    const ofKey = await leaksOfProcesses(process_.pid ?? 0, keys);
    leaks.push(...ofKey.filter(({ place }) => place.startsWith('cmdline')));
    if (process_.exitCode === null && process_.signalCode === null) {
      const gone = new Promise((done) => process_.once('exit', done));
      process_.kill('SIGTERM');
      await gone;
    }
    await this.model?.close();
    const kept = ['config.json', 'credentials.secrets.json'].map((name) => join(this.stateDir, name));
    const left = await leaksBelow(this.stateDir, [...this.#credentials(), ...keys]).catch(() => []);
    leaks.push(...left.filter(({ place }) => !kept.includes(place)));
    leaks.push(
      ...leaksIn('terminal', Buffer.from(this.#printed.join('\n')), [...this.#credentials(), ...keys]),
    );
    await rm(this.home, { recursive: true, force: true });
    expect(leaks, 'secrets of this test').toEqual([]);
  }

  /** Grants and credentials of Core since this app was opened. */
  #credentials(): string[] {
    return [...EnrolCore.bearers].filter((bearer) => !this.#before.has(bearer));
  }
}

/** Seconds that only this test sleeps, to tell its processes from others. */
export const stubbornSleep = { inside: '864201', escaped: '864202' } as const;

async function stubbornProgram(home: string): Promise<string> {
  const path = join(home, 'stubborn.sh');
  const claude = await claudeProgram();
  const script = [
    '#!/bin/sh',
    // A look at its version or its sign-in is no start.
    `case " $* " in *" --input-format "*) ;; *) exec "${claude}" "$@" ;; esac`,
    "trap '' TERM HUP INT",
    `setsid sleep ${stubbornSleep.escaped} </dev/null >/dev/null 2>&1 &`,
    `"${claude}" "$@"`,
    `while :; do sleep ${stubbornSleep.inside}; done`,
    '',
  ];
  await writeFile(path, script.join('\n'), { mode: 0o700 });
  return path;
}

/** The few members of the view that the tests look at; the whole is checked by the product's own schema. */
export interface ViewLike {
  readonly runtime: { readonly state: string };
  readonly bindings: readonly {
    readonly connection: { readonly state: string };
    readonly harnesses: readonly { readonly kind: string; readonly available: boolean }[];
  }[];
  readonly turns: readonly { readonly run_id: string; readonly state: string }[];
  readonly interactions: readonly { readonly id: string; readonly kind: string; readonly run_id: string }[];
  readonly cleanup: readonly unknown[];
  readonly invited: { readonly host: string | null } | null;
  readonly history: readonly {
    readonly kind: string;
    readonly outcome: string;
    readonly decided_by: string | null;
    readonly detail: string | null;
  }[];
  readonly health: readonly { readonly code: string }[];
}

function launch(
  home: string,
  stateDir: string,
  workspace: string,
  args: readonly string[],
  more: Readonly<Record<string, string>>,
): Promise<ElectronApplication> {
  const { DBUS_SESSION_BUS_ADDRESS, ...rest } = process.env;
  void DBUS_SESSION_BUS_ADDRESS;
  return _electron.launch({
    executablePath: packaged,
    args: [`--state-dir=${stateDir}`, `--workspace=${workspace}`, ...args],
    env: { ...rest, HOME: home, ...more } as Record<string, string>,
  });
}

/** Waits until `look` gives something else than null. */
export async function until<T>(look: () => Promise<T | null>, what: string): Promise<T> {
  let found: T | null = null;
  await expect
    .poll(
      async () => {
        found = await look();
        return found !== null;
      },
      { message: what },
    )
    .toBe(true);
  if (found === null) throw new Error(what);
  return found;
}
