import type { HarnessView, View } from '../contract/view.ts';
import { WIRE_VERSION } from '../protocol/version.ts';
import type { BoundRuntime } from './binding.ts';
import type { Daemon } from './daemon.ts';

/** In the view, which front ends get again and again; the rest is on disk. */
const shownHistory = 200;

/** What front ends see of a daemon, as it is now. */
export function buildView(daemon: Daemon): Omit<View, 'revision'> {
  const { projection, options } = daemon;
  const external = [...daemon.bindings.values()]
    .filter((bound) => !bound.target.local)
    .map((bound) => bound.view(harnessViews(daemon, false)));
  const local = daemon.local?.view(harnessViews(daemon, true));
  return {
    runtime: {
      state: daemon.state,
      version: options.version,
      wire_version: WIRE_VERSION,
      started_at: daemon.startedAt,
    },
    bindings: local ? [...external, local] : external,
    turns: [...projection.turns, ...(daemon.local?.queued() ?? [])],
    interactions: [...projection.interactions],
    cleanup: [...projection.cleanup],
    transfers: [...projection.transfers],
    history: daemon.history().slice(-shownHistory),
    rules: daemon.rules.view,
    enrolments: [...daemon.enrolments.views],
    invited: daemon.enrolments.invited,
    update: daemon.updates.view,
    credential_store: options.credentials.store?.backend ?? null,
    health: daemon.health.items.map((item) => ({ ...item, since: new Date(item.since).toISOString() })),
    drops: { ...projection.drops },
  };
}

function harnessViews(daemon: Daemon, local: boolean): HarnessView[] {
  return daemon.offeredTo(local).map(({ adapter, probe }) => ({
    kind: adapter.kind,
    name: adapter.name,
    available: probe.available && !daemon.paused,
    version: probe.version,
    reason: probe.reason,
    capabilities: { ...probe.capabilities },
  }));
}

/** Whether there is an agent to work with, for whoever looks at health. */
export function noteAgents(daemon: Daemon): void {
  const real = daemon.harnesses.offered().filter(({ adapter }) => adapter.kind !== 'demo');
  if (real.some(({ probe }) => probe.available)) return daemon.health.clear('no_agent');
  const reason = real
    .map(({ adapter, probe }) => `${adapter.name}: ${probe.reason ?? 'not available'}`)
    .join(' ');
  daemon.health.raise('no_agent', reason === '' ? 'No agent was found on this machine.' : reason);
}

/** Whether each bound folder can be worked in, for whoever looks at health. */
export function noteFolders(daemon: Daemon): void {
  const bound = [...daemon.bindings.values()];
  const tell = (
    code: 'workspace_unusable' | 'workspace_read_only',
    found: BoundRuntime | undefined,
  ): void => {
    if (!found) return daemon.health.clear(code);
    const folder = found.target.workspace?.workspace ?? found.target.name;
    const what = code === 'workspace_unusable' ? 'is missing or cannot be opened' : 'can only be read';
    daemon.health.raise(code, `The folder ${folder} ${what}.`);
  };
  tell(
    'workspace_unusable',
    bound.find(({ folder }) => folder === 'unusable'),
  );
  tell(
    'workspace_read_only',
    bound.find(({ folder }) => folder === 'read_only'),
  );
}
