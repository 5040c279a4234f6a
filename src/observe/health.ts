import type { Clock } from '../platform/clock.ts';

/**
 * Everything that can be wrong with this machine, as one static list: what a person reads and does about it.
 */
export type Severity = 'info' | 'warning' | 'error';

interface HealthDefinition {
  readonly severity: Severity;
  readonly next: string;
}

export const healthItems = {
  credential_store_unavailable: {
    severity: 'error',
    next: 'Unlock or start the system keychain and try again, or choose another place in Settings.',
  },
  workspace_unusable: {
    severity: 'error',
    next: 'Create the folder or make it writable for you, then try again.',
  },
  workspace_read_only: {
    severity: 'warning',
    next: 'Agents can read there but change nothing. Make the folder writable for you if they should.',
  },
  disk_full: { severity: 'error', next: 'Free some space on the disk that holds the state folder.' },
  state_file_set_aside: {
    severity: 'warning',
    next: 'The file could not be understood and was kept under another name. Look into it or remove it.',
  },
  binding_unreadable: {
    severity: 'error',
    next: 'Nothing is served from there. Bring environment.json back from a copy, or move the folder away and enrol again.',
  },
  no_agent: {
    severity: 'warning',
    next: 'Install Claude Code and sign in with `claude auth login`, or try the demo agent.',
  },
  agent_not_started: {
    severity: 'warning',
    next: 'Put right what it names, then send the message again. Nothing was submitted to the agent.',
  },
  cleanup_unconfirmed: {
    severity: 'warning',
    next: 'Look at what has not settled, try again, or record it as gone.',
  },
  orphans_ended: { severity: 'info', next: 'Nothing to do. What the last run left behind has ended.' },
  no_tray: {
    severity: 'warning',
    next: 'Starting the app again brings the window to the front. On GNOME, the AppIndicator extension shows tray icons.',
  },
  login_item: {
    severity: 'warning',
    next: 'Look into the autostart folder of your desktop: the entry of this app cannot be written, is another one’s, or was switched off there.',
  },
  log_not_kept: {
    severity: 'warning',
    next: 'Check that the folder logs in the state folder is writable and the disk has room. Lines are missing from the log.',
  },
  history_not_kept: {
    severity: 'warning',
    next: 'Check that the state folder is writable and the disk has room.',
  },
} as const satisfies Record<string, HealthDefinition>;
export type HealthCode = keyof typeof healthItems;

export interface HealthState {
  readonly code: HealthCode;
  readonly severity: Severity;
  readonly since: number;
  readonly text: string;
  readonly next: string;
}

export class Health {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #current = new Map<HealthCode, HealthState>();

  constructor(clock: Clock, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** Raises an item, or changes its text; `since` stays. A severity of its own where less hangs on it now. */
  raise(code: HealthCode, text: string, severity: Severity = healthItems[code].severity): void {
    const known = this.#current.get(code);
    if (known?.text === text && known.severity === severity) return;
    const { next } = healthItems[code];
    this.#current.set(code, { code, severity, next, text, since: known?.since ?? this.#clock.now() });
    this.#onChange();
  }

  /** Raises an item that says one more thing beside what it says already. */
  add(code: HealthCode, text: string): void {
    const known = this.#current.get(code)?.text;
    if (known?.includes(text)) return;
    this.raise(code, known === undefined ? text : `${known} ${text}`);
  }

  clear(code: HealthCode): void {
    if (this.#current.delete(code)) this.#onChange();
  }

  /** Worst first, then oldest. */
  get items(): readonly HealthState[] {
    const rank: Record<Severity, number> = { error: 0, warning: 1, info: 2 };
    return [...this.#current.values()].sort(
      (a, b) => rank[a.severity] - rank[b.severity] || a.since - b.since,
    );
  }
}
