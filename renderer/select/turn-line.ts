import type { CleanupView, Evidence, InteractionView, TurnView, View } from '../../src/contract/view.ts';
import type { HistoryEntry } from '../../src/contract/history.ts';
import { t } from '../i18n/t.ts';
import { said } from '../i18n/said.ts';
import { mark, type Mark } from './mark.ts';
import { at, span } from './time-words.ts';

/** The mark, the words and the pips of a Turn, wherever it is listed. */
export interface TurnLine {
  readonly mark: Mark;
  /** One or two words, for the pill and the screen reader. */
  readonly label: string;
  /** The whole line of design.md section 7. */
  readonly text: string;
}

/** Without output for this long a running Turn is called quiet. */
export const quietAfter = 60_000;
/** A stop that was not confirmed within this time says so. */
export const stopProofAfter = 15_000;

export interface TurnContext {
  readonly now: number;
  /** Prompts of this Turn that wait for an answer. */
  readonly prompts: number;
}

export const promptsOf = (interactions: readonly InteractionView[], runId: string): number =>
  interactions.filter((interaction) => interaction.run_id === runId).length;

const lastOf = (turn: Pick<TurnView, 'evidence'>, fact: Evidence['fact']): Evidence | undefined =>
  turn.evidence.filter((evidence) => evidence.fact === fact).at(-1);

const has = (turn: Pick<TurnView, 'evidence'>, fact: Evidence['fact']): boolean =>
  lastOf(turn, fact) !== undefined;

export function turnLine(turn: TurnView, { now, prompts }: TurnContext): TurnLine {
  switch (turn.state) {
    case 'starting':
      return has(turn, 'prepared')
        ? { mark: mark('ring', 'run'), label: t('turn.label.starting'), text: t('turn.starting') }
        : { mark: mark('ring', 'run'), label: t('turn.label.preparing'), text: t('turn.preparing') };
    case 'running':
      return running(turn, now, prompts);
    case 'cancelling': {
      const since = now - at(lastOf(turn, 'cancel_requested')?.at ?? turn.last_output_at ?? turn.started_at);
      return {
        mark: mark('ring'),
        label: t('turn.label.stopping'),
        text:
          since >= stopProofAfter
            ? t('turn.stop_unproven', { span: span(stopProofAfter) })
            : t('turn.stopping', { span: span(since) }),
      };
    }
    case 'settling':
      return has(turn, 'unobserved')
        ? { mark: mark('dash'), label: t('turn.label.unknown'), text: t('turn.unknown') }
        : { mark: mark('ring'), label: t('turn.label.settling'), text: t('turn.settling') };
  }
}

function running(turn: TurnView, now: number, prompts: number): TurnLine {
  if (prompts > 0 && turn.phase === 'waiting_for_answer') {
    return {
      mark: mark('bang', 'warn'),
      label: t('turn.label.waiting'),
      text: prompts === 1 ? t('turn.waiting') : t('turn.waiting_many', { count: prompts }),
    };
  }
  const also = prompts > 0 ? `, ${t('turn.prompts_open', { count: prompts })}` : '';
  if (turn.last_output_at === null) {
    const silent = now - at(turn.started_at);
    return silent >= quietAfter
      ? { mark: mark('half'), label: t('turn.label.quiet'), text: t('turn.quiet', { span: span(silent) }) }
      : { mark: mark('half', 'run'), label: t('turn.label.working'), text: t('turn.working_silent') + also };
  }
  const silent = now - at(turn.last_output_at);
  return silent >= quietAfter
    ? { mark: mark('half'), label: t('turn.label.quiet'), text: t('turn.quiet', { span: span(silent) }) }
    : {
        mark: mark('half', 'run'),
        label: t('turn.label.working'),
        text: t('turn.working', { span: span(silent) }) + also,
      };
}

/** An ended Turn, as history has it. What is still there of it (`left`) keeps "settled" from being said. */
export function endedTurnLine(
  entry: Pick<HistoryEntry, 'outcome' | 'decided_by' | 'detail'>,
  left = 0,
): TurnLine {
  const base = endedBase(entry);
  if (left === 0 || entry.outcome === 'unknown') return base;
  return {
    ...base,
    mark: mark('dash'),
    label: t('turn.label.not_settled'),
    text: t('turn.not_settled', { outcome: base.label, count: left }),
  };
}

/** Codes of a failure as agents and their services have them; each has a sentence (`failure.*`). */
const failureCodes = [
  'authentication_error',
  'rate_limit_exceeded',
  'usage_limit_exceeded',
  'server_overloaded',
  'server_error',
  'invalid_request',
  'resource_not_found',
  'request_timeout',
  'context_length_exceeded',
  'cyber_policy',
  'connection_failed',
] as const;

/** A failure as history has it: `code: text`, or the text alone where nobody classed it. */
export function failureOf(detail: string): {
  readonly code: (typeof failureCodes)[number] | null;
  readonly text: string;
} {
  const code = failureCodes.find((name) => detail.startsWith(`${name}: `)) ?? null;
  return { code, text: said(code === null ? detail : detail.slice(code.length + 2)) };
}

function failed(detail: string): string {
  const { code, text } = failureOf(detail);
  return t('turn.failed', { detail: code === null ? text.replace(/[.\s]+$/, '') : t(`failure.${code}`) });
}

function endedBase(entry: Pick<HistoryEntry, 'outcome' | 'decided_by' | 'detail'>): TurnLine {
  switch (entry.outcome) {
    case 'completed':
      return { mark: mark('tick', 'ok'), label: t('turn.label.completed'), text: t('turn.completed') };
    case 'cancelled':
      return {
        mark: mark('sq'),
        label: t('turn.label.stopped'),
        text:
          entry.decided_by === 'person'
            ? t('turn.stopped_by_you')
            : entry.decided_by === 'core'
              ? t('turn.stopped_by_core')
              : t('turn.stopped'),
      };
    case 'failed':
      return {
        mark: mark('xx', 'bad'),
        label: t('turn.label.failed'),
        text: entry.detail === null ? t('turn.failed_unsaid') : failed(entry.detail),
      };
    default:
      return {
        mark: mark('dash'),
        label: t('turn.label.unknown'),
        text: entry.detail === null ? t('turn.unknown') : said(entry.detail),
      };
  }
}

/** Ended Turns of history, most recent first. */
export const endedTurns = (view: Pick<View, 'history'>): readonly HistoryEntry[] =>
  view.history.filter((entry) => entry.kind === 'turn').sort((a, b) => at(b.at) - at(a.at));

/** Cleanup items that this Turn left, by the words the daemon uses for an owner. */
export const leftBy = (cleanup: readonly CleanupView[], runId: string, title: string): number =>
  cleanup.filter((item) => item.owner.includes(runId) || (title !== '' && item.owner.includes(title))).length;

/** Observed, now, amber while it waits for the person, "may have happened", not yet. */
export type Pip = 'observed' | 'now' | 'waiting' | 'maybe' | 'not_yet';
/** prepared, started, output, ended, settled */
export type Strip = readonly [Pip, Pip, Pip, Pip, Pip];

export function evidenceStrip(turn: TurnView, { now, prompts }: TurnContext): Strip {
  const prepared: Pip = has(turn, 'prepared') || has(turn, 'started') ? 'observed' : 'now';
  const started: Pip = has(turn, 'started')
    ? 'observed'
    : turn.state === 'starting' && prepared === 'observed'
      ? 'now'
      : 'not_yet';
  if (turn.state === 'starting') return [prepared, started, 'not_yet', 'not_yet', 'not_yet'];
  const quiet = turn.last_output_at === null || now - at(turn.last_output_at) >= quietAfter;
  const output: Pip =
    turn.state === 'running' && prompts > 0 && turn.phase === 'waiting_for_answer'
      ? 'waiting'
      : turn.state === 'running' && !quiet
        ? 'now'
        : turn.last_output_at === null
          ? 'not_yet'
          : 'observed';
  const ended: Pip = has(turn, 'unobserved') ? 'maybe' : turn.state === 'settling' ? 'observed' : 'not_yet';
  const settled: Pip = has(turn, 'settled')
    ? 'observed'
    : turn.state === 'settling' && ended === 'observed'
      ? 'now'
      : 'not_yet';
  return [prepared, started, output, ended, settled];
}

export function endedStrip(outcome: HistoryEntry['outcome'], left = 0): Strip {
  if (outcome === 'unknown') return ['observed', 'observed', 'observed', 'maybe', 'not_yet'];
  return ['observed', 'observed', 'observed', 'observed', left > 0 ? 'maybe' : 'observed'];
}

const stages = ['strip.prepared', 'strip.started', 'strip.output', 'strip.ended', 'strip.settled'] as const;

/** The strip in words, for its label. */
export function stripWords(strip: Strip): string {
  const parts: string[] = [];
  for (const pip of ['observed', 'now', 'waiting', 'maybe', 'not_yet'] as const) {
    const names = stages.filter((_, index) => strip[index] === pip).map((key) => t(key));
    if (names.length > 0) parts.push(t(`strip.${pip}`, { what: names.join(', ') }));
  }
  return parts.join('; ');
}
