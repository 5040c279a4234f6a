import { isJsonObject } from '../protocol/presence.ts';
import { flag, Tally, text } from './history-reading.ts';
import type { HistoryEvent } from './history.ts';
import type { ScriptFrame } from './scenario.ts';

/** Inputs are told apart by their text, which a recorded run makes unique. */
export function judgeInputs(events: readonly HistoryEvent[]): string[] {
  const wrong: string[] = [];
  const taken = new Tally();
  const notReady = new Tally();
  const written = new Set<string>();
  const accepted = new Set<string>();
  const busy = new Map<string, string>();
  const texts = new Map<string, string[]>();
  const said = new Tally();
  for (const event of events) {
    switch (event.does) {
      case 'opens':
        texts.clear();
        break;
      case 'says':
        if (event.frame.type === 'prompt_steer') {
          const key = `${event.on} ${event.frame.id} ${text(event.frame, 'input_id')}`;
          texts.set(key, [...(texts.get(key) ?? []), inputText(event.frame)]);
        }
        break;
      case 'takes input': {
        const key = `${event.run} ${event.text}`;
        if (taken.add(key) > 1 + notReady.of(key)) wrong.push(`the input ${key} was delivered again`);
        const other = busy.get(event.run);
        if (other !== undefined)
          wrong.push(`the inputs ${other} and ${event.text} of Run ${event.run} at once`);
        busy.set(event.run, event.text);
        break;
      }
      case 'has written':
        written.add(`${event.run} ${event.text}`);
        break;
      case 'answers input':
        if (busy.get(event.run) === event.text) busy.delete(event.run);
        if (event.result === 'accepted') accepted.add(`${event.run} ${event.text}`);
        if (event.result === 'not_ready') notReady.add(`${event.run} ${event.text}`);
        break;
      case 'hears': {
        if (event.frame.type !== 'prompt_steer_ack') break;
        const id = text(event.frame, 'input_id');
        const known = (texts.get(`${event.on} ${event.frame.id} ${id}`) ?? []).map(
          (t) => `${event.frame.id} ${t}`,
        );
        if (flag(event.frame, 'written')) {
          if (!known.some((key) => written.has(key))) wrong.push(`written of ${id} before it was written`);
          // The Runtime says it once; after that only a repeat of the request may bring it again.
          if (said.add(`${event.on} ${event.frame.id} ${id}`) > known.length)
            wrong.push(`written of ${id} again`);
        }
        if (flag(event.frame, 'accepted') && !known.some((key) => accepted.has(key)))
          wrong.push(`accepted of ${id} before it was consumed`);
        // A native write that timed out is over for the Runtime.
        if (text(event.frame, 'error_code') === 'outcome_unknown') busy.delete(event.frame.id);
        break;
      }
      case 'gives up':
        if (event.frame.type === 'prompt_steer_ack') busy.delete(event.frame.id);
        break;
      default:
        break;
    }
  }
  return wrong;
}

function inputText(frame: ScriptFrame): string {
  const input = frame.payload['input'];
  const first: unknown = Array.isArray(input) ? input[0] : undefined;
  const content = isJsonObject(first) ? first['content'] : undefined;
  const part: unknown = Array.isArray(content) ? content[0] : undefined;
  const value = isJsonObject(part) ? part['text'] : undefined;
  return typeof value === 'string' ? value : '';
}
