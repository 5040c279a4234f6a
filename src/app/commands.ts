import type { Answer, CommandAnswer } from '../contract/commands.ts';
import { rejected } from '../observe/errors.ts';
import { tailLog } from '../observe/tail-log.ts';
import { systemEnvironment } from '../platform/environment.ts';
import type { InteractionAnswer, LocalResult } from '../runtime/interactions.ts';
import type { BoundRuntime } from './binding.ts';
import type { CommandHandlers } from './command-gate.ts';
import type { Daemon } from './daemon.ts';
import type { runDoctor } from './doctor.ts';
import { hasProxyPassword, keepProxyPassword } from './network-settings.ts';
import { usageView } from './turn-record.ts';

const done: CommandAnswer<'runtime.pause'> = {};

/** One handler a command; each says what it needs to know and leaves the doing to the owner of the thing. */
export function createHandlers(daemon: Daemon): CommandHandlers {
  const local = (): NonNullable<Daemon['local']> => {
    if (!daemon.local) {
      throw rejected(
        'not_available',
        'There is no local Core here. Turns of other Cores are started by them.',
      );
    }
    return daemon.local;
  };
  const check = async (): ReturnType<typeof runDoctor> => {
    const { runDoctor } = await import('./doctor.ts');
    return runDoctor({
      paths: daemon.options.paths,
      credentials: daemon.options.credentials,
      harnesses: daemon.harnesses,
      network: {
        clock: daemon.options.clock,
        choice: daemon.settings,
        environment: systemEnvironment,
        desktop: daemon.options.systemProxy ?? null,
        hasPassword: () => hasProxyPassword(daemon.options.credentials),
      },
      time: { clock: daemon.options.clock, network: daemon.network },
      bindings: [...daemon.bindings.values()],
      openCleanup: daemon.projection.cleanup.length,
    });
  };
  return {
    'view.get': () => Promise.resolve(daemon.publisher.current()),

    'turn.read': ({ run_id, after, limit }) => {
      const turn = daemon.projection.turn(run_id);
      if (!turn) {
        const waits = daemon.local?.queued().some((queued) => queued.run_id === run_id);
        if (waits) return Promise.resolve({ run_id, entries: [], total: 0, ended: false });
        throw rejected('not_found', 'What this Turn wrote is no longer kept here.');
      }
      const total = turn.journal.total;
      return Promise.resolve({
        run_id,
        entries: turn.journal.read(after, limit),
        total,
        ended: turn.ended !== null,
      });
    },

    'turn.start': async ({ prompt, harness, session_id }) => {
      if (daemon.paused) throw rejected('not_available', 'Paused: no new work is taken. Resume first.');
      return local().start({ prompt, harness: harness ?? null, sessionId: session_id ?? null });
    },
    'turn.cancel': async ({ run_id }) => {
      await local().cancel(run_id);
      return done;
    },
    'turn.steer': async ({ run_id, text }) => ({ input_id: await local().steer(run_id, text) }),
    'turn.list': () => Promise.resolve({ turns: local().list() }),
    'turn.show': ({ run_id }) => {
      const shown = local().show(run_id);
      const turn = daemon.projection.turn(run_id);
      const usage = turn ? usageView(turn.usage) : shown.usage;
      return Promise.resolve({
        ...shown,
        text: shown.text === '' && turn ? turn.journal.text() : shown.text,
        evidence: turn ? [...turn.evidence] : [],
        usage,
      });
    },

    'interaction.answer': async ({ id, answer }) => ({
      outcome: await answerInteraction(daemon, id, answer),
    }),

    'runtime.pause': () => {
      daemon.pause(true);
      return Promise.resolve(done);
    },
    'runtime.resume': () => {
      daemon.pause(false);
      return Promise.resolve(done);
    },
    'runtime.stop': async ({ mode }) => {
      // The view shows the way there; a front end does not hang on it.
      void daemon.stopServing(mode);
      return Promise.resolve(done);
    },
    'runtime.start': () => {
      daemon.startServing();
      return Promise.resolve(done);
    },
    'connection.retry': ({ binding }) => {
      const found = bindingsNamed(daemon, binding);
      if (found.length === 0) throw rejected('not_found', `There is no binding named ${binding}.`);
      for (const bound of found) bound.link.retry();
      return Promise.resolve(done);
    },

    'update.look': async () => {
      await daemon.updates.look();
      return done;
    },
    'update.download': async () => {
      await daemon.updates.download();
      return done;
    },
    'update.install': () => {
      daemon.updates.install(daemon.publisher.current());
      return Promise.resolve(done);
    },

    'cleanup.retry': async ({ id }) => {
      const orphan = await daemon.orphans.retry(id);
      if (orphan !== null) return { confirmed: orphan };
      for (const bound of daemon.bindings.values()) {
        const result = await bound.retryCleanup(id);
        if (result !== null) return { confirmed: result };
      }
      throw rejected('not_found', 'There is nothing left to clean up under this id.');
    },
    'cleanup.force': async ({ id }) => {
      if (await daemon.orphans.force(id)) return done;
      for (const bound of daemon.bindings.values()) if (await bound.forceCleanup(id)) return done;
      throw rejected('not_found', 'There is nothing left to clean up under this id.');
    },

    'transfer.stop': ({ id }) => {
      if (![...daemon.bindings.values()].some((bound) => bound.stopPreparation(id))) {
        throw rejected('not_found', 'There is no step of a preparation under way under this id.');
      }
      return Promise.resolve(done);
    },
    'history.read': () => Promise.resolve({ entries: [...daemon.history()] }),
    'rule.remove': ({ id }) => {
      if (!daemon.rules.remove(id)) throw rejected('not_found', 'There is no rule of this id.');
      return Promise.resolve(done);
    },
    'rule.remove_all': () => Promise.resolve({ removed: daemon.rules.removeAll() }),

    'doctor.run': async () => ({ checks: await check() }),
    'diagnostics.collect': async () => {
      const checks = await check();
      const { clock, version, paths } = daemon.options;
      const { redactor } = daemon;
      const { collectDiagnostics } = await import('./diagnostics.ts');
      return collectDiagnostics({
        now: clock.now(),
        version,
        paths,
        redactor,
        view: daemon.publisher.current(),
        checks,
      });
    },
    'logs.tail': async ({ lines }) => ({ lines: await tailLog(daemon.options.paths.logs, lines) }),
    'settings.get': () => Promise.resolve(daemon.settings),
    'settings.set': async (change) => {
      await daemon.choose(change);
      return daemon.settings;
    },
    'proxy.password': async ({ password }) => {
      await keepProxyPassword(daemon.options.credentials, password);
      daemon.useNetwork();
      return done;
    },
    'credentials.choose': async ({ choice }) => {
      await daemon.options.credentials.choose(choice);
      const waits = [...daemon.bindings.values()].filter(
        (bound) => bound.parked || bound.failure === 'credential_store_unavailable',
      );
      for (const bound of waits) bound.link.retry();
      return done;
    },

    'enrol.read': (request) => daemon.enrolments.read(request),
    'enrol.folder': ({ id, path }) => daemon.enrolments.chooseFolder(id, path),
    'enrol.confirm': ({ id, name }) => daemon.enrolments.confirm(id, name),
    'enrol.ignore': () => {
      daemon.enrolments.ignore();
      return Promise.resolve(done);
    },
    'enrol.close': ({ id }) => {
      daemon.enrolments.close(id);
      return Promise.resolve(done);
    },
    'binding.rotate': async ({ binding, credential }) => {
      await daemon.enrolments.rotate(binding, credential);
      return done;
    },
    'binding.remove': async ({ binding, leave_credential: leave }) => {
      await daemon.enrolments.remove(binding, leave);
      return done;
    },
  };
}

function bindingsNamed(daemon: Daemon, name: string): BoundRuntime[] {
  return [...daemon.bindings.values()].filter((bound) => bound.target.name === name);
}

/** The first valid answer is applied exactly once; every other one is told the truth. */
async function answerInteraction(
  daemon: Daemon,
  id: string,
  answer: Answer,
): Promise<CommandAnswer<'interaction.answer'>['outcome']> {
  const open = daemon.projection.interactions.find((interaction) => interaction.id === id);
  if (!open) {
    const past = [...daemon.history()].reverse().find((entry) => entry.id === id);
    if (!past) throw rejected('not_pending', 'Nothing waits for an answer under this id.');
    throw rejected(
      'already_decided',
      `Already ${past.outcome}${byWhom(past.decided_by)}. Your answer was not applied.`,
    );
  }
  const given = toRuntime(open.kind, answer);
  if (!given) {
    throw rejected(
      'invalid_answer',
      open.kind === 'permission' ? 'Allow or deny it.' : 'Answer its questions, or cancel.',
    );
  }
  for (const bound of daemon.bindings.values()) {
    const result = await bound.answer(id, given);
    if (result.kind !== 'not_pending') return outcomeOf(result, answer);
  }
  throw rejected('already_decided', 'It was decided or withdrawn meanwhile. This answer was not applied.');
}

function byWhom(by: string | null): string {
  switch (by) {
    case null:
      return '';
    case 'person':
      return ' here';
    case 'core':
      return ' by Core';
    case 'harness':
      return ' by the agent';
    default:
      return ` by a ${by}`;
  }
}

function outcomeOf(
  result: Exclude<LocalResult, { kind: 'not_pending' }>,
  answer: Answer,
): CommandAnswer<'interaction.answer'>['outcome'] {
  switch (result.kind) {
    case 'applied':
      return result.end;
    case 'refused':
      throw result.why === 'answered_by_core'
        ? rejected('answer_refused', 'This Runtime is set to let Core answer. The answer was not applied.')
        : rejected('invalid_answer', misfit(answer));
    case 'failed':
      throw rejected(
        'harness_failed',
        'The agent did not take the answer. The prompt is still open; try again.',
      );
  }
}

/** Why an answer of the right kind does not fit what was asked, and what would. */
function misfit(answer: Answer): string {
  if (answer.kind !== 'allow') return 'The answer names a question that was not asked.';
  if (answer.input && answer.scope !== 'once') return 'Another input can be allowed once, not with a rule.';
  return answer.input
    ? 'This agent takes no other input here. Allow it as it is, or deny it with a message.'
    : 'No rule can cover this request. Allow it once or for this Turn, or deny it.';
}

function toRuntime(kind: 'permission' | 'user_choice', answer: Answer): InteractionAnswer | null {
  switch (answer.kind) {
    case 'allow':
      return kind === 'permission'
        ? {
            ...{ kind: 'permission', scope: answer.scope },
            ...(answer.days === undefined ? {} : { days: answer.days }),
            answer: { kind: 'allow', ...(answer.input ? { updatedInput: answer.input } : {}) },
          }
        : null;
    case 'deny':
      return kind === 'permission'
        ? { kind: 'permission', scope: 'once', answer: { kind: 'deny', message: answer.message ?? null } }
        : null;
    case 'answers':
      return kind === 'user_choice'
        ? { kind: 'choice', answer: { kind: 'answers', answers: new Map(Object.entries(answer.answers)) } }
        : null;
    case 'cancel':
      return kind === 'user_choice'
        ? { kind: 'choice', answer: { kind: 'cancelled', reason: 'declined' } }
        : null;
  }
}
