import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/**
 * Who a process is, so that a recycled pid is never taken for an old acquaintance: the pid, when that process
 * started, and which boot of the machine that was in. Two identities are the same process exactly when all three
 * texts are equal; none of them is meant to be read as a time.
 *
 * Linux reads `/proc` (tested). macOS asks `ps` and `sysctl`, Windows asks PowerShell (both written after the
 * manuals and not tested).
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque. Linux: clock ticks since boot. */
  readonly startTime: string;
  /** Opaque, new with every boot of the machine. */
  readonly bootId: string;
}

/** One running process of the machine as the platform lists it. Zombies are not running and are never listed. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Process group, 0 where the platform has none. */
  readonly group: number;
  /** Session, 0 where the platform has none. */
  readonly session: number;
  readonly startTime: string;
}

let boot: Promise<string> | null = null;

/** Identity of this boot. Rejects when the platform will not say. */
export function currentBootId(): Promise<string> {
  // A failure is not kept: the next caller asks again.
  boot ??= readBootId().catch((error: unknown) => {
    boot = null;
    throw error;
  });
  return boot;
}

/** The identity of a running process, or null when there is none under this pid. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | null> {
  const [entry, bootId] = await Promise.all([readProcess(pid), currentBootId()]);
  return entry ? { pid, startTime: entry.startTime, bootId } : null;
}

/** Whether exactly this process still runs. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  const now = await identifyProcess(identity.pid);
  return now !== null && now.startTime === identity.startTime && now.bootId === identity.bootId;
}

/** One running process, or null when there is none. Rejects when the system will not say: that is no proof of an end. */
export async function readProcess(pid: number): Promise<ProcessEntry | null> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(nullWhenGone);
    return stat === null ? null : parseStat(stat);
  }
  if (process.platform === 'win32') {
    const text = await run('powershell.exe', [
      ...POWERSHELL,
      `$p = Get-Process -Id ${pid} -ErrorAction Stop; $p.StartTime.ToFileTimeUtc()`,
    ]).catch(() => '');
    const startTime = text.trim();
    return startTime === '' ? null : { pid, parent: 0, group: 0, session: 0, startTime };
  }
  const text = await run('/bin/ps', ['-o', PS_FORMAT, '-p', String(pid)]).catch(() => '');
  return parsePsLine(text.trim());
}

/** For a read below `/proc`: null when the process is gone, else the failure itself. */
export function nullWhenGone(error: unknown): null {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
    return null;
  throw error;
}

export const POWERSHELL = ['-NoProfile', '-NonInteractive', '-Command'] as const;
/** Columns of `ps` on macOS, without headings. `lstart` is last because it holds blanks. */
export const PS_FORMAT = 'pid=,ppid=,pgid=,sess=,state=,lstart=';

/** A line of `/proc/<pid>/stat`. The command name may hold blanks and brackets, so counting starts behind it. */
export function parseStat(stat: string): ProcessEntry | null {
  const end = stat.lastIndexOf(')');
  const pid = Number.parseInt(stat, 10);
  const fields = stat.slice(end + 2).split(' ');
  const [state, parent, group, session] = fields;
  const startTime = fields[19];
  if (end < 0 || !Number.isSafeInteger(pid) || startTime === undefined) return null;
  if (state === 'Z' || state === 'X' || state === 'x') return null;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), startTime };
}

/** A line of `ps -o` with `PS_FORMAT`. */
export function parsePsLine(line: string): ProcessEntry | null {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
  const [, pid, parent, group, session, state, startTime] = match ?? [];
  if (pid === undefined || startTime === undefined || state?.startsWith('Z')) return null;
  const number = Number(session);
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    session: Number.isSafeInteger(number) ? number : 0,
    startTime,
  };
}

async function readBootId(): Promise<string> {
  if (process.platform === 'linux') return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  if (process.platform === 'win32') {
    const time = '(Get-CimInstance Win32_OperatingSystem).LastBootUpTime.ToFileTimeUtc()';
    return (await run('powershell.exe', [...POWERSHELL, time])).trim();
  }
  return (await run('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'])).trim();
}

/** Standard output of a short system command; rejects when it fails or takes longer than ten seconds. */
export function run(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      command,
      [...args],
      {
        timeout: 10_000,
        maxBuffer: 16 * 1024 * 1024,
        windowsHide: true,
        env: { ...process.env, LC_ALL: 'C' },
      },
      (error, stdout) => (error ? reject(error) : resolve(stdout)),
    );
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.on('error', reject);
  });
}
