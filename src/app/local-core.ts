import { readFile, rename } from 'node:fs/promises';
import type { CommandAnswer } from '../contract/commands.ts';
import type { BindingView, HarnessView, TurnView } from '../contract/view.ts';
import { LocalCore, type SessionAccess } from '../core/local-core.ts';
import { CoreStateError, type TurnRecord } from '../core/core-state.ts';
import { fault, rejected } from '../observe/errors.ts';
import { codeOf, writeAtomic } from '../store/atomic-file.ts';
import type { BoundRuntime } from './binding.ts';
import type { Daemon } from './daemon.ts';
import { titleOf, usageView } from './turn-record.ts';

/** Connections of Sessions kept open at the same time. An idle one past this is closed, the least recently used first. */
const openSessions = 8;
/** Waiting Turns in the view; `turn list` has them all. */
const shownQueued = 50;
const bindingName = 'local';

export interface LocalCoreHost {
  /** Starts a Turn: in the named Session, or in a new one. */
  start(request: {
    prompt: string;
    harness: string | null;
    sessionId: string | null;
  }): Promise<{ run_id: string; session_id: string }>;
  cancel(runId: string): Promise<void>;
  /** Hands active input over; returns its id. Its receipts follow in the journal. */
  steer(runId: string, text: string): Promise<string>;
  /** Turns that were taken and that the Runtime has not seen yet. */
  queued(): TurnView[];
  list(): CommandAnswer<'turn.list'>['turns'];
  show(runId: string): CommandAnswer<'turn.show'>;
  view(harnesses: readonly HarnessView[]): BindingView;
  close(): Promise<void>;
}

/**
 * Starts the local Core and binds to it over loopback like to any other Core: one device and one connection a Session.
 * A Session is made ahead, so that the app is connected before the first Turn.
 */
export async function startLocalCore(daemon: Daemon, workspace: string): Promise<LocalCoreHost> {
  const { clock, random, paths } = daemon.options;
  const openedAt = clock.now();
  const core = await openCore(daemon);
  await core.listen().catch((error: unknown) => {
    throw fault('network', 'The local Core could not open a port on this machine. Start again.', error);
  });
  const used = new Map<string, number>();
  let spare: SessionAccess | null = null;

  const connect = (access: SessionAccess): BoundRuntime => {
    daemon.redactor.register(access.credential);
    return daemon.serve(
      {
        name: bindingName,
        local: true,
        coreUrl: core.coreUrl,
        deviceId: access.deviceId,
        expectedUrl: null,
        workspace: {
          environmentId: access.environmentId,
          sessionId: access.sessionId,
          workspace,
          recordedDirectory: workspace,
        },
        secret: () => Promise.resolve({ kind: 'ok', secret: access.credential }),
      },
      keyOf(access.sessionId),
    );
  };
  const prepareSpare = async (harness: string): Promise<SessionAccess> => {
    const access = await core.createSession({ harness, workspaceDirectory: workspace });
    connect(access);
    return access;
  };
  const closeIdle = (): void => {
    const idle = [...used].filter(([sessionId]) => {
      const bound = daemon.bindings.get(keyOf(sessionId));
      return bound !== undefined && bound.activeRuns === 0;
    });
    const surplus = idle.length - openSessions;
    for (const [sessionId] of idle.sort((a, b) => a[1] - b[1]).slice(0, Math.max(0, surplus))) {
      used.delete(sessionId);
      void daemon.unserve(keyOf(sessionId));
    }
  };

  core.subscribe((event) => {
    if (event.kind === 'storage_failed') noteStorage(daemon);
    if (event.kind === 'turn') noteUnseenEnd(daemon, core, core.turn(event.runId));
    daemon.publisher.changed();
  });
  // What the last run left open is told once: a start whose end nobody saw is unknown, and what still waited is not
  // started behind the person's back.
  for (const turn of core.turns()) {
    if (turn.state === 'queued') core.cancel(turn.runId);
    else if (turn.endedAt !== null && turn.endedAt >= openedAt) noteUnseenEnd(daemon, core, turn);
  }
  spare = await prepareSpare(preferredKind(daemon, null)).catch(() => {
    noteStorage(daemon);
    return null;
  });

  return {
    async start({ prompt, harness, sessionId }) {
      let access: { sessionId: string };
      if (sessionId !== null) {
        const known = core.sessions().find((session) => session.sessionId === sessionId && !session.ended);
        if (!known) throw rejected('not_found', 'There is no Session with this id.');
        if (harness !== null && harness !== known.harness) {
          throw rejected(
            'conflict',
            `This Session belongs to ${known.harness}. Start a new one for another agent.`,
          );
        }
        requireAvailable(daemon, known.harness);
        if (!daemon.bindings.has(keyOf(sessionId))) {
          const issued = core.issueAccess(sessionId);
          if (!issued) throw rejected('not_found', 'There is no Session with this id.');
          connect(issued);
        }
        access = known;
      } else {
        const kind = preferredKind(daemon, harness);
        requireAvailable(daemon, kind);
        const ready = spare && core.sessions().find((session) => session.sessionId === spare?.sessionId);
        const fits = ready?.harness === kind;
        const taken = fits && spare ? spare : await prepareSpare(kind);
        access = taken;
        if (fits) {
          spare = null;
          // Without one the next Turn makes its own Session; a disk that is full must not end anything here.
          void prepareSpare(kind).then(
            (next) => (spare = next),
            () => noteStorage(daemon),
          );
        }
      }
      used.set(access.sessionId, clock.monotonic());
      closeIdle();
      const submitted = await core.submit({ prompt, sessionId: access.sessionId });
      if (submitted.kind === 'queued') {
        daemon.health.clear('disk_full');
        return { run_id: submitted.runId, session_id: submitted.sessionId };
      }
      throw rejected('not_available', submitRefusals[submitted.reason]);
    },

    cancel(runId) {
      if (!core.turn(runId)) throw rejected('not_found', 'There is no Turn with this id.');
      if (!core.cancel(runId)) throw rejected('not_pending', 'This Turn has ended already.');
      return Promise.resolve();
    },

    steer(runId, text) {
      if (!core.turn(runId)) throw rejected('not_found', 'There is no Turn with this id.');
      if (!core.steer(runId, text)) {
        throw rejected(
          'not_available',
          'This Turn takes no input now: it does not run, or its agent does not support it.',
        );
      }
      const inputs = core.turn(runId)?.inputs ?? [];
      return Promise.resolve(inputs[inputs.length - 1]?.inputId ?? '');
    },

    queued: () =>
      core
        .turns()
        .filter((turn) => turn.state !== 'ended' && !daemon.projection.turn(turn.runId))
        .slice(0, shownQueued)
        .map((turn) => queuedView(turn, core)),

    list: () =>
      core
        .turns()
        .map((turn) => summaryOf(turn, core))
        .reverse(),

    show(runId) {
      const turn = core.turn(runId);
      if (!turn) throw rejected('not_found', 'There is no Turn with this id.');
      return {
        ...summaryOf(turn, core),
        prompt: turn.prompt,
        text: turn.text,
        detail: daemon.history().find((entry) => entry.kind === 'turn' && entry.id === runId)?.detail ?? null,
        evidence: [],
        usage: usageView(turn.usage),
      };
    },

    view(harnesses) {
      const sessions = [...used].sort((a, b) => b[1] - a[1]).map(([sessionId]) => sessionId);
      const shown = [...sessions, ...(spare ? [spare.sessionId] : [])]
        .map((sessionId) => daemon.bindings.get(keyOf(sessionId)))
        .find((bound) => bound !== undefined);
      const view = shown?.view(harnesses);
      return (
        view ?? {
          name: bindingName,
          local: true,
          environment_id: null,
          session_id: null,
          workspace,
          connection: {
            state: 'stopped',
            since: new Date(clock.now()).toISOString(),
            attempt: 0,
            next_attempt_at: null,
            last_received_at: null,
            reason: null,
            reason_code: null,
            host: null,
            lost_at: null,
          },
          harnesses: [...harnesses],
          enrolled: null,
        }
      );
    },

    close: () => core.close(),
  };

  async function openCore(host: Daemon): Promise<LocalCore> {
    const storage = {
      load: async (): Promise<unknown> => {
        try {
          return JSON.parse(await readFile(paths.core, 'utf8'));
        } catch (error) {
          if (codeOf(error) === 'ENOENT') return null;
          if (error instanceof SyntaxError) return 'unreadable';
          throw fault(
            'storage',
            'The Turns of the local Core could not be read. Check the state folder and start again.',
            error,
          );
        }
      },
      save: (state: unknown) => writeAtomic(paths.core, JSON.stringify(state), random),
    };
    try {
      return await LocalCore.create({ clock, random, storage });
    } catch (error) {
      // A disk that fails says nothing about the file, which stays where it is.
      if (!(error instanceof CoreStateError)) throw error;
      // Kept under another name and reported; a new one begins beside it.
      const aside = `${paths.core}.broken-${clock.now()}`;
      await rename(paths.core, aside);
      host.health.add('state_file_set_aside', `The Turns of the local Core were set aside as ${aside}.`);
      return LocalCore.create({ clock, random, storage });
    }
  }
}

const keyOf = (sessionId: string): string => `local:${sessionId}`;

const submitRefusals = {
  empty_prompt: 'Write what the agent should do.',
  prompt_too_large: 'The text is too long for one Turn.',
  unknown_session: 'There is no Session with this id.',
  storage_failed: 'The Turn was not started: it could not be written to disk. Check that the disk has room.',
} as const;

/** Why a Turn never started, for a person. Other codes are shown as they are. */
const startRefusals: Readonly<Record<string, string>> = {
  cancelled_before_start: 'It was stopped before it started. Nothing was submitted.',
  core_restarted: 'The app ended before the end of this Turn was observed. It will not run again by itself.',
  preparation_failed: 'The agent could not be started. Doctor and the log say more.',
  executor_cleanup_unconfirmed: 'The agent of this Session is still being ended. See what has not settled.',
  preparation_unobserved: 'The connection was lost before it started. Nothing was submitted.',
  unsupported_configuration: 'This agent does not support what the Session asks for.',
  preparation_unsupported: 'This agent cannot be prepared by this version of the app.',
  environment_unsupported: 'This agent does not work in a bound folder.',
};

/** The kind that was asked for, else the first available agent, else the demo. */
function preferredKind(daemon: Daemon, asked: string | null): string {
  if (asked !== null) return asked;
  const offered = daemon.harnesses.offered();
  const real = offered.find(({ adapter, probe }) => adapter.kind !== 'demo' && probe.available);
  const any = offered.find(({ probe }) => probe.available) ?? offered[0];
  return (real ?? any)?.adapter.kind ?? 'demo';
}

function requireAvailable(daemon: Daemon, kind: string): void {
  const offered = daemon.harnesses.offered().find(({ adapter }) => adapter.kind === kind);
  if (!offered) {
    throw rejected(
      'harness_unavailable',
      `There is no agent of the kind ${kind} here. Agents there are: ${daemon.harnesses
        .offered()
        .map(({ adapter }) => adapter.kind)
        .join(', ')}.`,
    );
  }
  if (!offered.probe.available) {
    throw rejected(
      'harness_unavailable',
      offered.probe.reason ?? `${offered.adapter.name} is not available.`,
    );
  }
}

function noteStorage(daemon: Daemon): void {
  daemon.health.raise('disk_full', 'The Turns of the local Core could not be written to disk.');
}

function queuedView(turn: TurnRecord, core: LocalCore): TurnView {
  const { run_id, session_id, harness, started_at } = summaryOf(turn, core);
  return {
    run_id,
    session_id,
    binding: bindingName,
    harness,
    title: titleOf(turn.prompt),
    state: 'starting',
    phase: null,
    started_at,
    last_output_at: null,
    usage: null,
    evidence: [],
    local: true,
    can_steer: false,
    entries: 0,
  };
}

function summaryOf(turn: TurnRecord, core: LocalCore): CommandAnswer<'turn.list'>['turns'][number] {
  return {
    run_id: turn.runId,
    session_id: turn.sessionId,
    harness: harnessOf(turn, core) ?? '',
    state: turn.state === 'preparing' ? 'starting' : turn.state,
    started_at: new Date(turn.startedAt ?? turn.createdAt).toISOString(),
    outcome: turn.outcome,
  };
}

function harnessOf({ sessionId }: TurnRecord, core: LocalCore): string | null {
  return core.sessions().find((known) => known.sessionId === sessionId)?.harness ?? null;
}

/** A Turn that ended before the Runtime ever saw its start still has an end to tell. */
function noteUnseenEnd(daemon: Daemon, core: LocalCore, turn: TurnRecord | undefined): void {
  if (!turn || turn.state !== 'ended' || turn.outcome === null || daemon.projection.turn(turn.runId)) return;
  if (daemon.history().some((entry) => entry.id === turn.runId)) return;
  daemon.remember({
    kind: 'turn',
    id: turn.runId,
    run_id: turn.runId,
    binding: bindingName,
    harness: harnessOf(turn, core),
    title: titleOf(turn.prompt),
    at: new Date(daemon.options.clock.now()).toISOString(),
    outcome: turn.outcome,
    decided_by: null,
    detail:
      turn.errorCode === null
        ? null
        : (startRefusals[turn.errorCode] ?? `It did not start: ${turn.errorCode}.`),
  });
}
