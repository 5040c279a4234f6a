import { join } from 'node:path';
import { app, dialog, nativeTheme, powerMonitor, powerSaveBlocker, screen, session } from 'electron';
import { linkHandlerPorts, takeLinks } from '../src/app/link-handler.ts';
import { compose } from '../src/app/compose.ts';
import { endDespiteKeychain } from '../src/app/credentials.ts';
import { loadConfig } from '../src/app/config.ts';
import type { Daemon } from '../src/app/daemon.ts';
import { desktopPaths } from '../src/app/desktop-paths.ts';
import { enrolledBindings } from '../src/app/enrolled-binding.ts';
import { desktopProxy } from '../src/app/network-settings.ts';
import { localWorkspace } from '../src/app/workspace-folder.ts';
import { awaitingPerson } from '../src/contract/awaiting.ts';
import type { View } from '../src/contract/view.ts';
import type { Logger } from '../src/observe/logger.ts';
import { pushView, serveCommands, serveFolderDialog, serveSaveDialog } from './ipc.ts';
import { LoginItem } from './login-item.ts';
import { BusNotifier } from './bus-notifier.ts';
import { Notifications } from './notifications.ts';
import { ElectronNotifier, type Notifier } from './notifier.ts';
import { desktopOptions, linkIn, linkScheme } from './options.ts';
import { askLeaveUnconfirmed, askQuit, askStopNow } from './quit.ts';
import { lockDown, registerScheme, serveWindow } from './security.ts';
import { SessionBus } from './session-bus.ts';
import { TrayHost } from './tray-host.ts';
import { AppTray } from './tray.ts';
import { feedUpdater } from './updater.ts';
import { MainWindow } from './window.ts';
import { speak, words } from './words.ts';
import { WindowPlaceStore } from './window-place.ts';

/** How long a quit waits before it asks whether to leave without proof. */
const patience = 10_000;
/** How often the tray looks at the clock. */
const restless = 5_000;
/** How long a start into the tray waits for a panel that starts with the session as well. */
const panelPatience = 10_000;

const options = desktopOptions(process.argv.slice(1), process.cwd());
const paths = desktopPaths(options.stateDir);
const icons = join(__dirname, 'icons');

app.setName('Agent Runtime');
// Chromium's own files live beside ours, so that one state folder is one app.
app.setPath('userData', join(paths.root, 'window'));
// As root Chromium's sandbox cannot start; the page itself stays sandboxed by its preferences.
if (process.getuid?.() !== 0) app.enableSandbox();

/** A link may come before there is anything to show it with (macOS hands it over this way). */
let early: string | null = options.link;
let arrive = (link: string): void => void (early = link);
app.on('open-url', (event, url) => {
  event.preventDefault();
  const link = linkIn([url]);
  if (link !== null) arrive(link);
});
/** Asked to end while it starts: what was started meanwhile settles first, so this is done once there is a daemon. */
let ending = false;
let end = (): void => void (ending = true);
let quit = (event: { preventDefault(): void }): void => {
  event.preventDefault();
  end();
};
app.on('before-quit', (event) => quit(event));
// Of a packaged app alone: the program of a development start is Electron itself. On Linux the package's desktop file
// does it; asking there makes some desktops open web pages with this app.
if (app.isPackaged && process.platform !== 'linux') app.setAsDefaultProtocolClient(linkScheme);

if (!app.requestSingleInstanceLock({ prompt: options.prompt, link: options.link })) {
  app.exit(0);
} else {
  registerScheme();
  lockDown();
  void app
    .whenReady()
    .then(start)
    .catch(async (error: unknown) => {
      await app.whenReady();
      dialog.showErrorBox(
        words().dialog.notStarted,
        error instanceof Error ? error.message : 'Unknown fault',
      );
      app.exit(1);
    });
}

async function start(): Promise<void> {
  // Not earlier: Electron puts handlers of its own in the place of those, and asks as a menu does.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end());
  serveWindow(join(__dirname, 'renderer'));
  const linux = process.platform === 'linux';
  const bus = linux ? await SessionBus.open(process.env['DBUS_SESSION_BUS_ADDRESS']) : null;
  const config = await loadConfig(options.config ?? paths.config, options.config !== null);
  const { daemon, logger } = await compose({
    paths,
    version: AGENT_RUNTIME_VERSION,
    config,
    targets: [],
    enrolled: await enrolledBindings(paths),
    localWorkspace: await localWorkspace(options.workspace, paths),
    logLevel: 'info',
    stderr: null,
    systemProxy: desktopProxy((address) => session.defaultSession.resolveProxy(address)),
  });
  const desktop = new Desktop(daemon, logger, bus ? await BusNotifier.on(bus) : new ElectronNotifier());
  desktop.begin(bus);
  await desktop.serveUpdates(config.updates?.feed ?? null);
}

/** Newer than the oldest Electron that this runs on. */
const systemLanguages = (): readonly string[] => app.getPreferredSystemLanguages?.() ?? [app.getLocale()];

const isPreventable = (event: unknown): event is { preventDefault(): void } =>
  typeof event === 'object' && event !== null && 'preventDefault' in event;

/** Window, tray and notifications around one daemon; none of them holds anything that the daemon needs. */
class Desktop {
  readonly #daemon: Daemon;
  readonly #logger: Logger;
  readonly #window: MainWindow;
  readonly #tray: AppTray;
  readonly #notifications: Notifications;
  readonly #loginItem: LoginItem;
  #view: View;
  #trayHost: TrayHost | null = null;
  #quitting = false;
  #signalled = false;
  #blocker: number | null = null;

  constructor(daemon: Daemon, logger: Logger, notifier: Notifier) {
    this.#daemon = daemon;
    this.#logger = logger;
    this.#view = daemon.publisher.current();
    this.#loginItem = new LoginItem(logger, (done) => {
      if (done) daemon.health.clear('login_item');
      else daemon.health.raise('login_item', 'Start at login could not be changed.');
    });
    const ports = {
      run: (name: string, request: unknown) => daemon.run(name, request),
      subscribe: (listener: (view: View) => void) => daemon.publisher.subscribe(listener),
      logger,
    };
    serveCommands(ports);
    serveFolderDialog(ports);
    serveSaveDialog(ports);
    this.#window = new MainWindow({
      folder: __dirname,
      icon: join(icons, 'app-icon-256.png'),
      logger,
      places: new WindowPlaceStore(join(paths.root, 'window', 'place.json')),
      onCreate: (window) => {
        pushView(window, ports);
        window.on('focus', () => void this.#trayHost?.refresh());
      },
      mayHide: () => this.#quitting || (this.#trayHost?.present ?? false),
    });
    this.#tray = new AppTray(icons, {
      open: () => this.#window.open(),
      openPrompt: (id) => this.#window.open({ screen: 'prompt', id }),
      pause: () => daemon.pause(true),
      resume: () => daemon.pause(false),
      start: () => daemon.startServing(),
      stopAfterTurns: () => void daemon.stopServing('after_turns'),
      stopNow: () => void this.#stopNow(),
      quit: () => void this.#quit(),
    });
    this.#notifications = new Notifications({
      notifier,
      logger,
      now: Date.now,
      actions: {
        open: (what) => this.#window.open(what),
        deny: (id) => void this.#deny(id),
      },
    });
  }

  begin(bus: SessionBus | null): void {
    const settings = this.#daemon.settings;
    this.#daemon.publisher.subscribe((view) => this.#update(view));
    // Time alone changes some states: a loss is told after a while.
    setInterval(() => this.#update(this.#view), restless).unref();
    nativeTheme.on('updated', () => this.#update(this.#view));
    // A connection that slept is asked at once, before its heartbeat would show it.
    powerMonitor.on('resume', () => this.#wake());
    powerMonitor.on('unlock-screen', () => this.#wake());
    screen.on('display-removed', () => this.#window.displaysChanged());
    screen.on('display-metrics-changed', () => this.#window.displaysChanged());
    // The machine goes down: it is asked for the time to settle, and nobody is asked anything.
    powerMonitor.on('shutdown', (event?: unknown) => {
      if (isPreventable(event)) event.preventDefault();
      this.#signalled = true;
      void this.#leave();
    });
    app.on('second-instance', (_event, _argv, _cwd, data) => {
      const given = typeof data === 'object' && data !== null ? data : {};
      const prompt = 'prompt' in given ? given.prompt : null;
      const link = 'link' in given ? linkIn([given.link]) : null;
      if (link === null) this.#window.open();
      else this.#arrive(link);
      if (typeof prompt === 'string' && prompt !== '') void this.#startTurn(prompt);
    });
    app.on('activate', () => this.#window.open());
    // Closing the window is not quitting: the Runtime goes on in the tray.
    app.on('window-all-closed', () => undefined);
    quit = (event) => {
      if (this.#quitting) return;
      event.preventDefault();
      // A signal has asked already; a log-out or a menu asks the person.
      if (!this.#signalled) void this.#quit();
    };
    end = () => {
      this.#signalled = true;
      void this.#leave();
    };
    if (ending) return end();
    if (!options.hidden && !settings.start_minimised) this.#window.open();
    else setTimeout(() => this.#showWithoutTray(), panelPatience).unref();
    void this.#watchTray(bus);
    if (app.isPackaged && process.platform === 'linux')
      void takeLinks(linkScheme, process.env['APPIMAGE'] ?? process.execPath, linkHandlerPorts(this.#logger));
    if (options.prompt !== null) void this.#startTurn(options.prompt);
    arrive = (link) => this.#arrive(link);
    if (early !== null) this.#arrive(early);
  }

  /** Off where there is no feed or nothing that could be replaced; a fault there is no fault of the app. */
  async serveUpdates(feed: string | null): Promise<void> {
    try {
      const updater = await feedUpdater(feed, {
        proxy: async () => (await this.#daemon.network.settings()).proxy,
        leave: () => this.#settle(),
      });
      if (updater) this.#daemon.updates.serve(updater);
    } catch (error) {
      this.#logger.warn('update.off', { error: error instanceof Error ? error.name : 'unknown' });
    }
  }

  async #watchTray(bus: SessionBus | null): Promise<void> {
    this.#trayHost = await TrayHost.watch(bus, process.env, (present, appeared) => {
      this.#noteTray(present);
      // An icon that was made before there was a panel for it is in none.
      if (appeared) this.#tray.renew(this.#view, Date.now());
    });
    this.#noteTray(this.#trayHost.present);
  }

  /** Never hidden without a way back: a window that nobody could find is put where windows are found. */
  #showWithoutTray(): void {
    if (!this.#trayHost?.present) this.#window.openMinimised();
  }

  #noteTray(present: boolean): void {
    const { health } = this.#daemon;
    if (present) health.clear('no_tray');
    else health.raise('no_tray', 'This desktop shows no tray icon, so closing the window only minimises it.');
  }

  /** A button of a notification. What was decided elsewhere meanwhile stays; what went wrong is shown in the window. */
  async #deny(id: string): Promise<void> {
    const result = await this.#daemon.run('interaction.answer', { id, answer: { kind: 'deny' } });
    if (result.ok) return;
    this.#logger.info('notification.not_denied', { code: result.error.code });
    if (this.#view.interactions.some((prompt) => prompt.id === id))
      this.#window.open({ screen: 'prompt', id });
  }

  /** Only fills the enrol screen: nothing is asked of anybody before the person reads it. */
  #arrive(link: string): void {
    this.#daemon.enrolments.arrive(link);
    this.#window.open({ screen: 'enrol' });
  }

  #update(view: View): void {
    this.#view = view;
    speak(this.#daemon.settings.language, systemLanguages());
    this.#tray.update(view, Date.now());
    const settings = this.#daemon.settings;
    this.#notifications.update(view, {
      enabled: settings.notifications,
      windowFocused: this.#window.focused,
    });
    if (nativeTheme.themeSource !== settings.theme) nativeTheme.themeSource = settings.theme;
    app.setBadgeCount?.(awaitingPerson(view).length);
    this.#loginItem.apply(settings.start_at_login);
    this.#keepAwake(settings.keep_awake && view.turns.length > 0);
  }

  #keepAwake(wanted: boolean): void {
    if (wanted && this.#blocker === null) this.#blocker = powerSaveBlocker.start('prevent-app-suspension');
    if (!wanted && this.#blocker !== null) {
      powerSaveBlocker.stop(this.#blocker);
      this.#blocker = null;
    }
  }

  #wake(): void {
    for (const bound of this.#daemon.bindings.values()) bound.link.wake();
  }

  async #startTurn(prompt: string): Promise<void> {
    const result = await this.#daemon.run('turn.start', { prompt });
    if (!result.ok) {
      this.#logger.warn('prompt.not_started', { code: result.error.code });
      dialog.showErrorBox(words().dialog.turnNotStarted, result.error.message);
      return;
    }
    const { answer } = result;
    const runId = typeof answer === 'object' && answer !== null && 'run_id' in answer ? answer.run_id : null;
    if (typeof runId === 'string') this.#window.open({ screen: 'turn', run_id: runId });
  }

  async #stopNow(): Promise<void> {
    if (await askStopNow(this.#view, this.#window.current)) await this.#daemon.stopServing('now');
  }

  async #quit(): Promise<void> {
    if (this.#quitting) return;
    const set = this.#daemon.settings.on_quit;
    const choice = set === 'ask' ? await askQuit(this.#view, this.#window.current) : set;
    if (choice === 'stay') return;
    if (choice === 'after_turns') {
      await this.#daemon.stopServing('after_turns');
      // Taken back meanwhile: started again by hand.
      if (this.#daemon.state === 'running') return;
    }
    await this.#leave();
  }

  async #leave(): Promise<void> {
    if (this.#quitting) return;
    await this.#settle();
    app.exit(0);
  }

  /** Ends everything, shows what blocks, and never leaves silently without proof. */
  async #settle(): Promise<void> {
    this.#quitting = true;
    const ended = this.#daemon.shutdown().then(() => true);
    for (;;) {
      const settled = await Promise.race([
        ended,
        new Promise<false>((done) => setTimeout(() => done(false), patience)),
      ]);
      if (settled) break;
      const blockers = this.#daemon.projection.cleanup.map((item) => `${item.owner}: ${item.reason}`);
      const again = askLeaveUnconfirmed(blockers, this.#window.current);
      const left = await Promise.race([ended.then(() => 'settled' as const), again]);
      if (left === 'settled' || left) break;
    }
    this.#tray.destroy();
    endDespiteKeychain();
  }
}
