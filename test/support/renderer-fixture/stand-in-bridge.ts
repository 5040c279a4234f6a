import type { WindowBridge } from '../../../src/contract/bridge.ts';
import { commands, isCommandName, type CommandResult } from '../../../src/contract/commands.ts';
import { defaultSettings, settingsSchema, type Settings } from '../../../src/contract/settings.ts';
import type { Diagnostics } from '../../../src/contract/diagnostics.ts';
import { viewSchema, type View } from '../../../src/contract/view.ts';
import type { JournalEntry } from '../../../src/contract/journal.ts';
import { enrolment } from './enrol-scenarios.ts';
import type { Scenario } from './scenarios.ts';

const diagnosticsSample: Diagnostics = {
  ...{
    format: 1,
    collected_at: '2026-11-27T14:36:20.000Z',
    app: { version: '0.1.0', wire_version: '0.10.0' },
  },
  platform: { os: 'linux', os_release: '6.8', arch: 'x64', node: '22.12.0', electron: '45.5.0' },
  runtime: { state: 'running', started_at: '2026-11-27T09:12:00.000Z' },
  ...{ bindings: [], harnesses: [], counts: { 'turns.running': 3 }, drops: { late_output: 1 }, health: [] },
  ...{ checks: [], cleanup: [], log: ['2026-11-27T14:36:01.120Z info link.serving'], files: [] },
};

/** A daemon that publishes what it is told and remembers what it was asked. */
export interface StandIn {
  readonly bridge: WindowBridge;
  readonly calls: { readonly name: string; readonly request: unknown }[];
  /** Also brings a closed one back. */
  publish(view: View): void;
  show(show: unknown): void;
  /** From now on every call fails as it does when the other end is gone. */
  close(): void;
}

/** As the daemon pages: at most about 1 MiB. Entries lie at their number. */
function page(entries: readonly JournalEntry[], after: number, limit: number): readonly JournalEntry[] {
  const given: JournalEntry[] = [];
  let size = 0;
  for (let n = after + 1; n < entries.length && given.length < limit && size < 1 << 20; n++) {
    const entry = entries[n];
    if (entry === undefined) break;
    given.push(entry);
    size += 'text' in entry ? entry.text.length : 200;
  }
  return given;
}

interface Waiting {
  readonly kind: string;
  readonly done: (answer: unknown) => void;
  readonly no: (error: { code: string; message: string }) => void;
}

const kindOf = (request: unknown): string =>
  commands['interaction.answer'].request.parse(request).answer.kind;
const kinds: Readonly<Record<string, string>> = {
  allowed: 'allow',
  denied: 'deny',
  answered: 'answers',
  cancelled: 'cancel',
};

/** What the daemon tells who sent an answer to a prompt that is gone: applied, or that somebody was first (`loses`). */
function settleAnswers(sent: Map<string, Waiting>, view: View, loses: boolean): void {
  for (const [id, { kind, done, no }] of sent) {
    if (view.interactions.some((open) => open.id === id)) continue;
    const end = view.history.filter((entry) => entry.id === id).at(-1);
    if (!end) continue;
    sent.delete(id);
    if (!loses && end.decided_by === 'person' && kinds[end.outcome] === kind) done({ outcome: end.outcome });
    else if (end.outcome !== 'unknown')
      no({
        code: 'already_decided',
        message: 'It was decided or withdrawn meanwhile. This answer was not applied.',
      });
  }
}

export function standIn(scenario: Scenario, settings: Settings = defaultSettings): StandIn {
  let view = viewSchema.parse(scenario.view);
  let kept = settings;
  let closed = false;
  const views = new Set<(view: unknown) => void>();
  const shows = new Set<(show: unknown) => void>();
  const calls: { name: string; request: unknown }[] = [];

  const sent = new Map<string, Waiting>();

  const answer = (name: string, request: unknown): unknown => {
    const text = (member: string): string => {
      const value: unknown =
        typeof request === 'object' && request !== null && member in request
          ? Reflect.get(request, member)
          : '';
      return typeof value === 'string' ? value : '';
    };
    switch (name) {
      case 'view.get':
        return view;
      case 'turn.read': {
        const entries = scenario.journals?.[text('run_id')] ?? [];
        const input = commands['turn.read'].request.parse(request);
        const open = view.turns.some((turn) => turn.run_id === input.run_id);
        return {
          run_id: input.run_id,
          entries: page(entries, input.after, input.limit),
          total: entries.length,
          ended: !open,
        };
      }
      case 'turn.show':
        return scenario.records?.[text('run_id')] ?? null;
      case 'turn.list':
        return { turns: [] };
      case 'turn.start':
        return { run_id: 'run-plan', session_id: 'session-1' };
      case 'turn.steer':
        return { input_id: 'i9' };
      case 'doctor.run':
        return { checks: scenario.checks ?? [] };
      case 'logs.tail':
        return { lines: scenario.log ?? [] };
      case 'history.read':
        return { entries: view.history };
      case 'diagnostics.collect':
        return diagnosticsSample;
      case 'settings.get':
        return kept;
      case 'settings.set':
        kept = settingsSchema.parse({ ...kept, ...commands['settings.set'].request.parse(request) });
        return kept;
      case 'cleanup.retry':
        return { confirmed: false };
      case 'enrol.read':
      case 'enrol.folder':
      case 'enrol.confirm':
        return view.enrolments[0] ?? enrolment();
      case 'interaction.answer':
        // The view says what was decided; whose answer it was is known together with that.
        return new Promise((done, no) => sent.set(text('id'), { kind: kindOf(request), done, no }));
      default:
        return {};
    }
  };

  return {
    calls,
    bridge: {
      platform: 'linux',
      saveText: (name, text) => {
        calls.push({ name: 'saveText', request: { name, text } });
        return Promise.resolve(true);
      },
      chooseFolder: () => Promise.resolve('/home/user/projects/chosen'),
      async command(name, request): Promise<CommandResult> {
        calls.push({ name, request });
        if (closed) throw new Error('the other end is gone');
        if (!isCommandName(name))
          return { ok: false, error: { code: 'usage', message: `No command ${name}.` } };
        const refused = scenario.refuse?.[name];
        if (refused) return { ok: false, error: refused };
        let given: unknown;
        try {
          given = await answer(name, commands[name].request.parse(request));
        } catch (error) {
          return { ok: false, error: error as { code: string; message: string } };
        }
        if (given === null)
          return { ok: false, error: { code: 'not_found', message: 'Nothing is kept under that id.' } };
        return { ok: true, answer: commands[name].answer.parse(given) };
      },
      onView(listener) {
        views.add(listener);
        return () => void views.delete(listener);
      },
      onShow(listener) {
        shows.add(listener);
        return () => void shows.delete(listener);
      },
    },
    publish(next) {
      closed = false;
      view = viewSchema.parse(next);
      for (const listener of views) listener(view);
      settleAnswers(sent, view, scenario.loses === true);
    },
    show(show) {
      for (const listener of shows) listener(show);
    },
    close() {
      closed = true;
    },
  };
}
