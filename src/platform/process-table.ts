import { readdir, readFile } from 'node:fs/promises';

import {
  nullWhenGone,
  parsePsLine,
  parseStat,
  POWERSHELL,
  PS_FORMAT,
  run,
  type ProcessEntry,
} from './process-identity.ts';

/**
 * The processes of this machine, as far as they matter for ending what we started. Signals are only ever sent to
 * processes that the caller has just identified.
 */
export interface ProcessTable {
  list(): Promise<readonly ProcessEntry[]>;
  /**
   * The pids among `candidates` whose start environment holds exactly `NAME=value`. Empty where the platform does not
   * show the environment of processes (macOS, Windows).
   */
  withVariable(
    candidates: readonly ProcessEntry[],
    name: string,
    value: string,
  ): Promise<ReadonlySet<number>>;
  /** Sends to one process; a process that is already gone is no error. */
  signal(pid: number, signal: EndSignal): void;
  /** Sends to a whole group. False where groups do not exist. */
  signalGroup(group: number, signal: EndSignal): boolean;
}

export type EndSignal = 'SIGTERM' | 'SIGKILL';

/** The process that asks: never part of a tree, whatever its environment says. */
export const ownPid: number = process.pid;

function send(target: number, signal: EndSignal): void {
  try {
    process.kill(target, signal);
  } catch {
    // ESRCH: gone meanwhile. EPERM: not ours to end; the following look at the table finds it still there.
  }
}

const linuxTable: ProcessTable = {
  async list() {
    const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const stats = await Promise.all(
      names.map((name) => readFile(`/proc/${name}/stat`, 'utf8').catch(nullWhenGone)),
    );
    return stats.flatMap((stat) => {
      const entry = stat === null ? null : parseStat(stat);
      return entry ? [entry] : [];
    });
  },
  async withVariable(candidates, name, value) {
    const wanted = Buffer.from(`${name}=${value}\0`);
    const found = await Promise.all(
      candidates.map(async ({ pid }) => {
        const environment = await readFile(`/proc/${pid}/environ`).catch(nullWhenHidden);
        return environment && holds(environment, wanted) ? [pid] : [];
      }),
    );
    return new Set(found.flat());
  },
  signal: send,
  signalGroup(group, signal) {
    send(-group, signal);
    return true;
  },
};

/** The environment of another user's process is not shown; it was not started by this one. */
function nullWhenHidden(error: unknown): null {
  if (error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM'))
    return null;
  return nullWhenGone(error);
}

/** Whether the block of NUL-ended variables holds `wanted` as a whole variable. */
function holds(block: Buffer, wanted: Buffer): boolean {
  const at = block.indexOf(wanted);
  return at === 0 || (at > 0 && block[at - 1] === 0);
}

/** Not tested: written after the manual of `ps`. */
const macTable: ProcessTable = {
  async list() {
    const text = await run('/bin/ps', ['-axo', PS_FORMAT]);
    return text.split('\n').flatMap((line) => parsePsLine(line) ?? []);
  },
  withVariable: () => Promise.resolve(new Set()),
  signal: send,
  signalGroup: linuxTable.signalGroup,
};

/** Not tested: written after the manuals of PowerShell and `taskkill`. Windows has no groups, so trees go by parent. */
const windowsTable: ProcessTable = {
  async list() {
    const text = await run('powershell.exe', [
      ...POWERSHELL,
      'Get-CimInstance Win32_Process | Where-Object CreationDate | ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId) $($_.CreationDate.ToFileTimeUtc())" }',
    ]);
    return text.split(/\r?\n/).flatMap((line) => {
      const [pid, parent, startTime] = line.trim().split(' ');
      if (pid === undefined || startTime === undefined) return [];
      return { pid: Number(pid), parent: Number(parent), group: 0, session: 0, startTime };
    });
  },
  withVariable: () => Promise.resolve(new Set()),
  signal(pid, signal) {
    const force = signal === 'SIGKILL' ? ['/F'] : [];
    run('taskkill.exe', ['/PID', String(pid), ...force]).catch(() => undefined);
  },
  signalGroup: () => false,
};

/** The table of the platform this runs on. */
export const systemProcessTable: ProcessTable =
  process.platform === 'linux' ? linuxTable : process.platform === 'win32' ? windowsTable : macTable;
