import { asError, rejected } from '../observe/errors.ts';
import { codeOf } from '../store/atomic-file.ts';
import type { Logger } from '../observe/logger.ts';
import type { Clock, Timer } from '../platform/clock.ts';
import type { View } from '../contract/view.ts';

/** What an installed app can do about a newer version of itself. None of it is called while another is under way. */
export interface Updater {
  /** The version the feed offers, or null when it offers none newer. */
  look(): Promise<string | null>;
  /** Fetches and checks what `look` found. */
  download(onPercent: (percent: number) => void): Promise<void>;
  /** Ends the app as a quit does, with its proof, and starts the new version. */
  install(): void;
}

export type UpdateState =
  /** No feed, or nothing that could be replaced: started from a folder, or without a window. */
  | { readonly state: 'off' }
  | { readonly state: 'current'; readonly checkedAt: number | null; readonly failed: boolean }
  | { readonly state: 'looking' }
  | { readonly state: 'available'; readonly version: string; readonly failed: boolean }
  | { readonly state: 'downloading'; readonly version: string; readonly percent: number }
  | { readonly state: 'ready'; readonly version: string };

export type UpdateEvent =
  | { readonly type: 'look' }
  | { readonly type: 'found'; readonly version: string | null; readonly at: number }
  | { readonly type: 'download' }
  | { readonly type: 'percent'; readonly percent: number }
  | { readonly type: 'downloaded' }
  | { readonly type: 'failed' };

/** Null when the event does not fit. Nothing is fetched before a person said so, and nothing fetched is thrown away. */
export function stepUpdate(current: UpdateState, event: UpdateEvent): UpdateState | null {
  switch (event.type) {
    case 'look':
      return current.state === 'current' || current.state === 'available' ? { state: 'looking' } : null;
    case 'found':
      if (current.state !== 'looking') return null;
      return event.version === null
        ? { state: 'current', checkedAt: event.at, failed: false }
        : { state: 'available', version: event.version, failed: false };
    case 'download':
      return current.state === 'available'
        ? { state: 'downloading', version: current.version, percent: 0 }
        : null;
    case 'percent':
      return current.state === 'downloading' ? { ...current, percent: event.percent } : null;
    case 'downloaded':
      return current.state === 'downloading' ? { state: 'ready', version: current.version } : null;
    case 'failed':
      if (current.state === 'looking') return { state: 'current', checkedAt: null, failed: true };
      if (current.state === 'downloading')
        return { state: 'available', version: current.version, failed: true };
      return null;
  }
}

/**
 * Why an update may not be installed now, for a person, or null. Never during a Turn, an open cleanup, work on a folder
 * or an enrolment: each of them would have to be told again, and some cannot be.
 */
export function installHindrance(
  view: Pick<View, 'turns' | 'cleanup' | 'transfers' | 'enrolments'>,
): string | null {
  if (view.turns.length > 0) return 'A Turn is open. The update is installed when it has ended.';
  if (view.cleanup.length > 0) return 'Something has not settled. The update waits for it.';
  if (view.transfers.length > 0) return 'Work on a folder is under way. The update waits for it.';
  if (view.enrolments.length > 0) return 'An enrolment is open. Finish or close it first.';
  return null;
}

/** A few hours: a feed is looked at, not watched. */
const LOOK_INTERVAL_MS = 6 * 60 * 60_000;

/** Looks by itself, fetches and installs only on a person's word. */
export class UpdateDesk {
  readonly #ports: { readonly clock: Clock; readonly logger: Logger; readonly onChange: () => void };
  #updater: Updater | null = null;
  #state: UpdateState = { state: 'off' };
  #timer: Timer | null = null;

  constructor(ports: { readonly clock: Clock; readonly logger: Logger; readonly onChange: () => void }) {
    this.#ports = ports;
  }

  get state(): UpdateState {
    return this.#state;
  }

  get view(): View['update'] {
    const now = this.#state;
    return {
      state: now.state,
      version: 'version' in now ? now.version : null,
      percent: 'percent' in now ? now.percent : null,
      failed: 'failed' in now && now.failed,
      checked_at: 'checkedAt' in now && now.checkedAt !== null ? new Date(now.checkedAt).toISOString() : null,
    };
  }

  /** From a shell that can replace itself. Looks at once and every few hours. */
  serve(updater: Updater): void {
    this.#updater = updater;
    this.#set({ state: 'current', checkedAt: null, failed: false });
    void this.look().catch(() => undefined);
  }

  /** @throws RuntimeError `not_available` without a feed, `conflict` while something else of it is under way. */
  async look(): Promise<void> {
    const updater = this.#take({ type: 'look' });
    this.#timer?.cancel();
    this.#timer = this.#ports.clock.after(LOOK_INTERVAL_MS, () => void this.look().catch(() => undefined), {
      background: true,
    });
    try {
      this.#step({ type: 'found', version: await updater.look(), at: this.#ports.clock.now() });
    } catch (error) {
      this.#fail('update.not_looked', error);
    }
  }

  /** @throws as `look`. Resolves when it is there, or could not be had; the view says which. */
  async download(): Promise<void> {
    const updater = this.#take({ type: 'download' });
    try {
      await updater.download((percent) => this.#step({ type: 'percent', percent: Math.trunc(percent) }));
      this.#step({ type: 'downloaded' });
    } catch (error) {
      this.#fail('update.not_downloaded', error);
    }
  }

  /** @throws RuntimeError `not_available` when nothing is ready, `conflict` with the reason why not now. */
  install(view: Parameters<typeof installHindrance>[0]): void {
    if (this.#state.state !== 'ready' || !this.#updater)
      throw rejected('not_available', 'No update is ready to be installed.');
    const hindrance = installHindrance(view);
    if (hindrance !== null) throw rejected('conflict', hindrance);
    this.#ports.logger.info('update.installing', { version: this.#state.version });
    this.#updater.install();
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #take(event: UpdateEvent): Updater {
    if (!this.#updater) throw rejected('not_available', 'This app is not updated by itself.');
    if (!this.#step(event)) throw rejected('conflict', 'The update cannot do that now.');
    return this.#updater;
  }

  #fail(event: string, error: unknown): void {
    this.#ports.logger.warn(event, { error: asError(error).name, code: codeOf(error) });
    this.#step({ type: 'failed' });
  }

  #step(event: UpdateEvent): boolean {
    const next = stepUpdate(this.#state, event);
    if (next) this.#set(next);
    return next !== null;
  }

  #set(state: UpdateState): void {
    this.#state = state;
    this.#ports.onChange();
  }
}
