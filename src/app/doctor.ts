import { access, constants, statfs } from 'node:fs/promises';
import type { CommandAnswer } from '../contract/commands.ts';
import { failureSentence } from './connection-words.ts';
import type { StatePaths } from '../store/paths.ts';
import type { BoundRuntime } from './binding.ts';
import type { CredentialDesk } from './credentials.ts';
import type { HarnessSource } from './daemon-options.ts';
import { clockCheck, type ClockSubject } from './doctor-clock.ts';
import { networkCheck, type NetworkSubject } from './doctor-network.ts';

type Check = CommandAnswer<'doctor.run'>['checks'][number];

const lowDisk = 200 * 1024 * 1024;

/** What a check looks at: a running daemon, or the machine before anything runs. */
export interface DoctorSubject {
  readonly paths: StatePaths;
  readonly credentials: CredentialDesk;
  readonly harnesses: HarnessSource;
  readonly network: NetworkSubject;
  readonly time: ClockSubject;
  readonly bindings: readonly BoundRuntime[];
  /** Things not proven gone. */
  readonly openCleanup: number;
}

/** What is installed, reachable, signed in and writable, and what to do about the rest. */
export async function runDoctor(subject: DoctorSubject): Promise<Check[]> {
  await subject.harnesses.refresh();
  const cores = subject.bindings.filter(({ target }) => !target.local).map(({ target }) => target.coreUrl);
  const time = await clockCheck(subject.time, cores);
  return [
    await folderCheck('State folder', subject.paths.root),
    await diskCheck(subject.paths.root),
    await credentialCheck(subject),
    await networkCheck(
      subject.network,
      cores.map((url) => new URL(url).host),
    ),
    ...(time === null ? [] : [time]),
    ...(await bindingChecks(subject.bindings)),
    ...agentChecks(subject.harnesses),
    cleanupCheck(subject.openCleanup),
  ];
}

async function folderCheck(name: string, path: string): Promise<Check> {
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return { name, ok: true, text: `${path} can be read and written.`, next: null };
  } catch {
    return {
      name,
      ok: false,
      text: `${path} cannot be written.`,
      next: 'Make it yours and writable, or name another folder with --state-dir.',
    };
  }
}

async function diskCheck(path: string): Promise<Check> {
  try {
    const { bavail, bsize } = await statfs(path);
    const free = bavail * bsize;
    return free < lowDisk
      ? { name: 'Disk', ok: false, text: `${Math.round(free / 1e6)} MB are free.`, next: 'Free some space.' }
      : { name: 'Disk', ok: true, text: `${(free / 1e9).toFixed(1)} GB are free.`, next: null };
  } catch {
    return { name: 'Disk', ok: true, text: 'How much is free cannot be told here.', next: null };
  }
}

async function credentialCheck({ credentials, bindings }: DoctorSubject): Promise<Check> {
  await credentials.probe();
  const { store } = credentials;
  const needed = bindings.some((bound) => bound.target.expectedUrl !== null);
  if (store) return { name: 'Credential store', ok: true, text: `Works (${store.backend}).`, next: null };
  return {
    name: 'Credential store',
    // The local Core and a bootstrap file need none.
    ok: !needed,
    text: credentials.sentence,
    next: needed
      ? 'Unlock or start it and try again, or choose another place for credentials in Settings.'
      : 'Nothing needs it now. To bind this machine to a Core later, unlock or start it.',
  };
}

async function bindingChecks(bindings: readonly BoundRuntime[]): Promise<Check[]> {
  const checks: Check[] = [];
  const seen = new Set<string>();
  for (const { target, link } of bindings) {
    if (seen.has(target.name)) continue;
    seen.add(target.name);
    const { state } = link;
    const name = target.local ? 'Local Core' : `Core of ${target.name}`;
    const failure = 'failure' in state ? state.failure : null;
    checks.push(
      state.state === 'serving'
        ? { name, ok: true, text: 'Connected.', next: null }
        : {
            name,
            ok: false,
            text: failure
              ? failureSentence(failure, new URL(target.coreUrl).host)
              : `Not connected (${state.state}).`,
            next: state.state === 'parked' ? 'Fix the cause and try again.' : 'It goes on trying by itself.',
          },
    );
    if (target.workspace)
      checks.push(await folderCheck(`Folder of ${target.name}`, target.workspace.workspace));
  }
  return checks;
}

function agentChecks(harnesses: HarnessSource): Check[] {
  const offered = harnesses.offered();
  const real = offered.filter(({ adapter }) => adapter.kind !== 'demo');
  const anyWorks = real.some(({ probe }) => probe.available);
  const checks = offered.map(({ adapter, probe }): Check => {
    const version = probe.version === null ? '' : `, version ${probe.version}`;
    if (probe.available) return { name: adapter.name, ok: true, text: `Ready${version}.`, next: null };
    return {
      name: adapter.name,
      // One working agent is enough; the others are told all the same.
      ok: anyWorks,
      text: probe.reason ?? 'Not available.',
      next: probe.reason,
    };
  });
  if (real.length > 0) return checks;
  return [
    ...checks,
    {
      name: 'Agents',
      ok: false,
      text: 'No agent was found on this machine.',
      next: 'Install Claude Code and sign in with `claude auth login`, or try the demo agent.',
    },
  ];
}

function cleanupCheck(open: number): Check {
  return open === 0
    ? {
        name: 'Cleanup',
        ok: true,
        text: 'Everything that was started has settled or still works.',
        next: null,
      }
    : {
        name: 'Cleanup',
        ok: false,
        text: `${open} ${open === 1 ? 'thing has' : 'things have'} not been proven gone.`,
        next: 'agent-runtime cleanup lists them; cleanup retry ID tries again.',
      };
}
