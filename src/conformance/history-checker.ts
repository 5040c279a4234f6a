import { flag, number, Tally, text } from './history-reading.ts';
import type { HistoryEvent } from './history.ts';
import { judgeInputs } from './judge-inputs.ts';
import { judgeReuse } from './judge-reuse.ts';
import { judgeStatuses } from './judge-statuses.ts';
import { isJsonObject } from '../protocol/presence.ts';
import type { ScriptFrame } from './scenario.ts';

/**
 * Judges a recorded history offline: what may never be seen of a Runtime, whatever the order of events was. A rule
 * reads the whole history and names what broke it. The list is the contract in a page.
 */
export interface HistoryRule {
  readonly name: string;
  readonly says: string;
  /** Compares with what the Harness saw: a history without that (a packaged app from outside) is not judged by it. */
  readonly native?: true;
  judge(events: readonly HistoryEvent[]): string[];
}

export interface BrokenRule {
  readonly rule: string;
  readonly why: string;
}

export function checkHistory(events: readonly HistoryEvent[]): readonly BrokenRule[] {
  const native = events.some(({ by }) => by === 'harness');
  return historyRules
    .filter((rule) => native || !rule.native)
    .flatMap((rule) => rule.judge(events).map((why) => ({ rule: rule.name, why })));
}

type Said = Extract<HistoryEvent, { does: 'says' }>;

const runOutput: ReadonlySet<string> = new Set([
  'delta',
  'thinking',
  'output_message',
  'tool_call',
  'command_output',
  'usage',
  'error',
  'done',
  'function_call',
  'permission_request',
  'prompt_for_user_choice',
]);

/** The Run that a frame of Core starts, or nothing. */
function startedRun(frame: ScriptFrame): string | undefined {
  if (frame.type === 'execution_start') return text(frame, 'run_id');
  if (frame.type === 'prompt_request') return frame.id === '' ? text(frame, 'run_id') : frame.id;
  return undefined;
}

export const historyRules: readonly HistoryRule[] = [
  {
    name: 'one submission',
    says: 'A Turn is submitted natively at most once, only after Core asked for it on this connection.',
    judge: (events) => {
      const wrong: string[] = [];
      const asked = new Map<string, Set<string>>();
      let started = new Tally();
      for (const event of events) {
        if (event.does === 'opens') {
          asked.clear();
          started = new Tally();
          continue;
        }
        if (event.does === 'says') {
          const run = startedRun(event.frame);
          if (run === undefined) continue;
          // A repeat of one start is one Turn; another handle is another.
          const handle = event.frame.type === 'execution_start' ? text(event.frame, 'handle') : 'direct';
          const handles = asked.get(run) ?? new Set();
          if (event.frame.type === 'prompt_request') handles.add(`direct ${handles.size}`);
          else handles.add(handle);
          asked.set(run, handles);
        }
        if (event.does !== 'starts') continue;
        const handles = asked.get(event.run)?.size ?? 0;
        if (handles === 0) wrong.push(`Run ${event.run} was started and nobody asked for it`);
        else if (started.add(event.run) > handles) wrong.push(`Run ${event.run} was started again`);
      }
      return wrong;
    },
  },
  {
    name: 'an Executor at rest',
    says: 'A Turn starts only on an Executor that was prepared, that nobody closes, and whose Turns all settled and left it fit for another.',
    judge: judgeReuse,
  },
  {
    name: 'done is last',
    says: 'No frame of a Run follows its done, and a Run has one done.',
    judge: (events) => {
      const wrong: string[] = [];
      const over = new Set<string>();
      for (const event of events) {
        if (event.does === 'opens') over.clear();
        // A Run id may be used again by a later start.
        if (event.does === 'starts') over.delete(event.run);
        if (event.does === 'says' && event.frame.type === 'prompt_request')
          over.delete(startedRun(event.frame) ?? '');
        if (event.does !== 'hears' || !runOutput.has(event.frame.type)) continue;
        if (over.has(event.frame.id))
          wrong.push(`${event.frame.type} of Run ${event.frame.id} after its done`);
        if (event.frame.type === 'done') over.add(event.frame.id);
      }
      return wrong;
    },
  },
  {
    name: 'no invented end',
    says: 'Output, done and error belong to a Run that was started on this connection; a lost Run gets none on the next.',
    judge: (events) => {
      const wrong: string[] = [];
      const turns = new Set<string>();
      // A Run that was asked for counts where nobody recorded what began natively.
      const native = events.some(({ by }) => by === 'harness');
      for (const event of events) {
        if (event.does === 'opens') turns.clear();
        if (event.does === 'says' && (!native || event.frame.type === 'prompt_request'))
          turns.add(startedRun(event.frame) ?? '');
        if (event.does === 'starts') turns.add(event.run);
        if (event.does === 'hears' && runOutput.has(event.frame.type) && !turns.has(event.frame.id))
          wrong.push(`${event.frame.type} of Run ${event.frame.id}, which never began here`);
      }
      return wrong;
    },
  },
  {
    name: 'silence after a loss',
    says: 'Nothing is heard on a connection that is lost.',
    judge: (events) => {
      const lost = new Set<number>();
      const wrong: string[] = [];
      for (const event of events) {
        if (event.does === 'loses') lost.add(event.on);
        if (event.does === 'hears' && lost.has(event.on))
          wrong.push(`${event.frame.type} on a lost connection`);
      }
      return wrong;
    },
  },
  {
    name: 'nothing after a gap',
    says: 'Where a frame of a Run could not be told, nothing that follows it in the Run is sent.',
    judge: (events) => {
      const wrong: string[] = [];
      const gaps = new Set<string>();
      for (const event of events) {
        if (event.does === 'opens') gaps.clear();
        if (event.does === 'starts') gaps.delete(event.run);
        if (event.does === 'says' && event.frame.type === 'prompt_request')
          gaps.delete(startedRun(event.frame) ?? '');
        if (event.does === 'gives up' && runOutput.has(event.frame.type)) gaps.add(event.frame.id);
        else if (event.does === 'takes' && runOutput.has(event.frame.type) && gaps.has(event.frame.id))
          wrong.push(`${event.frame.type} of Run ${event.frame.id} after a gap`);
      }
      return wrong;
    },
  },
  {
    name: 'applied means settled',
    says: 'A cancellation is applied only after native settlement or a confirmed close, and after the done of its Run.',
    judge: (events) => judgeCancellations(events),
  },
  {
    name: 'receipts are asked for',
    says: 'Every receipt answers a delivery of Core under its own id, at most once for each time it was sent.',
    judge: (events) => {
      const wrong: string[] = [];
      const open = new Tally();
      for (const event of events) {
        if (event.does === 'says') {
          const delivery = text(event.frame, 'delivery_id');
          if (delivery !== '') open.add(`${event.on} ${event.frame.id} ${delivery}`);
        }
        if (event.does !== 'hears' || event.frame.type !== 'interaction_decision_ack') continue;
        const key = `${event.on} ${event.frame.id} ${text(event.frame, 'delivery_id')}`;
        if (open.add(key, -1) < 0) wrong.push(`a receipt for ${key} that nobody waits for`);
      }
      return wrong;
    },
  },
  {
    name: 'one decision',
    native: true,
    says: 'A prompt is decided natively at most once, by the answer whose giver is told so, and by no two givers.',
    judge: (events) => judgeDecisions(events),
  },
  {
    name: 'one result',
    says: 'The result of a function is submitted natively once, and again only when that failed.',
    judge: (events) => {
      const wrong: string[] = [];
      const open = new Set<string>();
      const applied = new Set<string>();
      for (const event of events) {
        if (event.does === 'starts')
          for (const key of [...applied]) if (key.startsWith(`${event.run} `)) applied.delete(key);
        if (event.does !== 'takes result' && event.does !== 'answers result') continue;
        const key = `${event.run} ${event.call}`;
        if (event.does === 'answers result') {
          open.delete(key);
          if (event.result === 'applied') applied.add(key);
          continue;
        }
        if (open.has(key)) wrong.push(`two results of ${key} at the same time`);
        if (applied.has(key)) wrong.push(`a result of ${key} after one was applied`);
        open.add(key);
      }
      return wrong;
    },
  },
  {
    name: 'input receipts',
    native: true,
    says: 'Written is said once and after the write, accepted after consumption; an input is delivered once unless not ready.',
    judge: judgeInputs,
  },
  {
    name: 'revisions',
    says: 'The revisions of a handle rise by one, in the order that the contract allows, with fixed executor and expiry.',
    judge: judgeStatuses,
  },
  {
    name: 'answers have questions',
    says: 'A status, an input receipt and a workspace result carry the id of a request of this connection.',
    judge: (events) => {
      const wrong: string[] = [];
      const asked = new Set<string>();
      const family = (type: string): string | undefined => {
        if (type === 'preparation_status' || type.startsWith('execution_')) return 'preparation';
        if (type.startsWith('prompt_steer')) return 'steer';
        const operation = /^(workspace_(?:read|write|export)|runtime_prepare)(?:_result)?$/.exec(type)?.[1];
        if (operation !== undefined) return operation;
        return /^environment_(quiesce|resume)d?$/.exec(type)?.[1];
      };
      for (const event of events) {
        if (event.does !== 'says' && event.does !== 'hears') continue;
        const name = family(event.frame.type);
        if (name === undefined) continue;
        const key = `${event.on} ${name} ${event.frame.id}`;
        if (event.does === 'says') asked.add(key);
        else if (!asked.has(key)) wrong.push(`${event.frame.type} for ${key}, which nobody asked`);
      }
      return wrong;
    },
  },
  {
    name: 'withdrawals',
    says: 'permission_cancel names a permission that Core was asked about, or may have been, and comes once.',
    judge: (events) => {
      const wrong: string[] = [];
      const asked = new Set<string>();
      for (const event of events) {
        if (event.does !== 'hears' && event.does !== 'gives up') continue;
        const { frame, on } = event;
        if (frame.type === 'permission_request') asked.add(`${on} ${text(frame, 'request_id')}`);
        if (
          event.does === 'hears' &&
          frame.type === 'permission_cancel' &&
          !asked.delete(`${on} ${frame.id}`)
        )
          wrong.push(`permission_cancel of ${frame.id}`);
      }
      return wrong;
    },
  },
  {
    name: 'interaction ids',
    says: 'The id of a prompt is used once on a connection.',
    judge: (events) => {
      const seen = new Set<string>();
      const wrong: string[] = [];
      for (const event of events) {
        if (event.does !== 'hears') continue;
        const id = text(event.frame, 'request_id') || text(event.frame, 'ask_id');
        if (id === '') continue;
        if (seen.has(`${event.on} ${id}`)) wrong.push(`the prompt id ${id} again`);
        seen.add(`${event.on} ${id}`);
      }
      return wrong;
    },
  },
  {
    name: 'text in order',
    native: true,
    says: 'Core hears the text of a Run from its beginning, in order, without a gap, numbered from 1 upward.',
    judge: (events) => judgeText(events),
  },
  {
    name: 'settled means gone',
    says: 'A connection counts as settled, and another is opened, only when every Executor is proven closed or a person said so.',
    judge: (events) => {
      const wrong: string[] = [];
      const owned = new Map<number, string>();
      const forced = new Set<number>();
      for (const event of events) {
        if (event.does === 'prepares') owned.set(event.executor, 'in preparation');
        if (event.does === 'has prepared') {
          if (event.result === 'nothing') owned.delete(event.executor);
          else owned.set(event.executor, 'prepared');
        }
        if (event.does === 'has closed') {
          if (event.confirmed) owned.delete(event.executor);
          else owned.set(event.executor, 'not proven closed');
        }
        if (event.does === 'forces') forced.add(event.executor);
        const settles = event.does === 'settles' && event.by === 'link';
        if (!settles && event.does !== 'opens') continue;
        const when = settles ? 'settlement' : 'next connection';
        for (const [executor, state] of owned)
          if (!forced.has(executor)) wrong.push(`Executor ${executor} is ${state} at the ${when}`);
      }
      return wrong;
    },
  },
];

/** What is known natively about the end of each Run. */
function judgeCancellations(events: readonly HistoryEvent[]): string[] {
  const wrong: string[] = [];
  const executorOf = new Map<string, number>();
  const unsettled = new Set<string>();
  const cancels = new Set<string>();
  const applied = new Set<string>();
  for (const event of events) {
    if (event.does === 'opens') applied.clear();
    if (event.does === 'says' && event.frame.type === 'prompt_cancel')
      cancels.add(`${event.on} ${event.frame.id} ${text(event.frame, 'delivery_id')}`);
    if (event.does === 'starts') {
      executorOf.set(event.run, event.executor);
      unsettled.add(event.run);
      applied.delete(event.run);
    }
    if (event.does === 'has started' && !event.turn) unsettled.delete(event.run);
    if (event.does === 'settles' && event.by === 'harness' && event.settled) unsettled.delete(event.run);
    if (event.does === 'has closed' && event.confirmed)
      for (const [run, executor] of executorOf) if (executor === event.executor) unsettled.delete(run);
    if (event.does === 'forces')
      for (const [run, executor] of executorOf) if (executor === event.executor) unsettled.delete(run);
    if (event.does !== 'hears') continue;
    const run = event.frame.id;
    if (event.frame.type === 'done') {
      if (unsettled.has(run)) wrong.push(`done of Run ${run} before its native settlement`);
      if (applied.has(run)) wrong.push(`done of Run ${run} after the receipt of its cancellation`);
    }
    if (event.frame.type !== 'interaction_decision_ack' || !flag(event.frame, 'applied')) continue;
    if (!cancels.has(`${event.on} ${run} ${text(event.frame, 'delivery_id')}`)) continue;
    if (unsettled.has(run)) wrong.push(`the cancellation of Run ${run} was applied before native settlement`);
    if (!isJsonObject(event.frame.payload['outcome']))
      wrong.push(`an applied cancellation of ${run} without outcome`);
    applied.add(run);
  }
  return wrong;
}

function judgeDecisions(events: readonly HistoryEvent[]): string[] {
  const wrong: string[] = [];
  const keyOf = new Map<string, string>();
  /** Native answers under way and applied, by run and key. */
  const open = new Map<string, string>();
  const applied = new Map<string, string>();
  const personApplied = new Set<string>();
  /** A Core may use one delivery id for two answers; only one of them can have been applied. */
  const coreSaid = new Map<string, string[]>();
  for (const event of events) {
    switch (event.does) {
      case 'sees':
        keyOf.set(event.interaction, `${event.run} ${event.key}`);
        break;
      case 'takes decision': {
        const key = `${event.run} ${event.key}`;
        if (open.has(key)) wrong.push(`two decisions of ${key} at the same time`);
        if (applied.has(key)) wrong.push(`a decision of ${key} after it was applied`);
        open.set(key, event.answer);
        break;
      }
      case 'answers decision': {
        const key = `${event.run} ${event.key}`;
        open.delete(key);
        if (event.result === 'applied') applied.set(key, event.answer);
        break;
      }
      case 'answers':
        if (event.told !== 'applied') break;
        personApplied.add(event.interaction);
        if (applied.get(keyOf.get(event.interaction) ?? '') !== event.with)
          wrong.push(`the person was told applied for ${event.interaction}`);
        break;
      case 'says':
        if (event.frame.type.endsWith('_decision')) {
          const delivery = `${event.on} ${event.frame.id} ${text(event.frame, 'delivery_id')}`;
          coreSaid.set(delivery, [...(coreSaid.get(delivery) ?? []), answerOf(event)]);
        }
        break;
      case 'hears': {
        if (event.frame.type !== 'interaction_decision_ack' || !flag(event.frame, 'applied')) break;
        const said = coreSaid.get(`${event.on} ${event.frame.id} ${text(event.frame, 'delivery_id')}`);
        if (said === undefined) break;
        if (personApplied.has(event.frame.id)) wrong.push(`${event.frame.id} was applied for two givers`);
        const native = applied.get(keyOf.get(event.frame.id) ?? '');
        if (native === undefined || !said.includes(native))
          wrong.push(
            `Core was told applied for ${event.frame.id}: ${said.join(' or ')}, natively ${native ?? 'nothing'}`,
          );
        break;
      }
      default:
        break;
    }
  }
  return wrong;
}

/** A decision of Core in the words that the adapter contract has for it. */
function answerOf(event: Said): string {
  const { frame } = event;
  if (frame.type === 'permission_decision') return flag(frame, 'approved') ? 'allow' : 'deny';
  return flag(frame, 'cancelled') ? 'cancelled' : 'answers';
}

function judgeText(events: readonly HistoryEvent[]): string[] {
  const wrong: string[] = [];
  const emitted = new Map<string, string>();
  const heard = new Map<string, string>();
  const sequence = new Tally();
  for (const event of events) {
    if (event.does === 'starts') {
      emitted.delete(event.run);
      heard.delete(event.run);
      sequence.clear(event.run);
    }
    if (event.does === 'emits' && event.event === 'delta')
      emitted.set(event.run, (emitted.get(event.run) ?? '') + event.text);
    if (event.does !== 'hears') continue;
    const run = event.frame.id;
    if (event.frame.type === 'delta' || event.frame.type === 'thinking') {
      const next = number(event.frame, 'sequence');
      if (next <= sequence.of(run)) wrong.push(`sequence ${next} of Run ${run} after ${sequence.of(run)}`);
      sequence.add(run, next - sequence.of(run));
    }
    if (event.frame.type !== 'delta') continue;
    const soFar = (heard.get(run) ?? '') + text(event.frame, 'delta');
    heard.set(run, soFar);
    if (!(emitted.get(run) ?? '').startsWith(soFar)) wrong.push(`Run ${run} was heard as "${soFar}"`);
  }
  return wrong;
}
