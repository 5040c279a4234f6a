import type { ScriptFrame } from '../../../src/conformance/scenario.ts';
import { isJsonObject } from '../../../src/protocol/presence.ts';
import {
  acknowledged,
  limits,
  receipt,
  type Answer,
  type ModelPrompt,
  type ModelRun,
} from './model-state.ts';

/** The part of the reference model that answers active input, decisions and function results (wire 7, 9.6 and 10). */
export class ReceiptModel {
  readonly #prompts = new Map<string, ModelPrompt>();
  /** What Core's own decisions and results came to, by family and id. */
  readonly #applied = new Map<string, string>();
  readonly #deciding = new Map<string, string>();
  readonly #results = new Map<string, string>();
  /** Receipts that end the delivery of an input, as opposed to answers to a repeat. */
  readonly #lastReceipts = new WeakSet<ScriptFrame>();

  steer(frame: ScriptFrame, runs: ReadonlyMap<string, ModelRun>): readonly Answer[] {
    const { payload, id } = frame;
    const inputId = String(payload['input_id']);
    const refuse = (code: string): readonly Answer[] => [
      acknowledged(id, { input_id: inputId, accepted: false, error_code: code }),
    ];
    if (inputId.trim() === '') return refuse('invalid_input');
    const run = runs.get(id);
    if (!run) return refuse('run_inactive');
    const print = JSON.stringify([payload['input'], payload['durable_receipt'] === true]);
    const known = run.inputs.get(inputId);
    if (known && known.print !== print) return refuse('input_conflict');
    const retryable = known?.ack['error_code'] === 'not_ready' || known?.ack['error_code'] === 'busy';
    if (known && !(retryable && run.gate)) return [acknowledged(id, known.ack)];
    if (!known && run.inputs.size >= limits.inputs) return refuse('input_limit');
    if (!run.gate) return refuse('run_inactive');
    const remember = (code: string): readonly Answer[] => {
      const says = { input_id: inputId, accepted: false, error_code: code };
      run.inputs.set(inputId, { print, ack: says });
      return [acknowledged(id, says)];
    };
    if (!run.published) return remember('not_ready');
    if (run.busy !== null) return remember('busy');
    run.inputs.set(inputId, { print, ack: { input_id: inputId, accepted: false, error_code: 'in_flight' } });
    run.busy = inputId;
    return [];
  }

  decide(frame: ScriptFrame, runs: ReadonlyMap<string, ModelRun>): readonly Answer[] {
    const { delivery_id: delivery, ...decision } = frame.payload;
    if (frame.id === '' || delivery === '') return [];
    const family = frame.type === 'permission_decision' ? 'permission' : 'user_choice';
    const refuse = (code: string): readonly Answer[] => [receipt(frame.id, delivery, code)];
    const print = JSON.stringify(decision);
    const before = this.#applied.get(`${family} ${frame.id}`);
    if (before !== undefined)
      return before === print ? [receipt(frame.id, delivery, null)] : refuse('decision_conflict');
    const prompt = this.#prompts.get(frame.id);
    if (!prompt?.open || !prompt.asked || prompt.family !== family) return refuse('not_pending');
    if (!runs.get(prompt.run)?.published) return refuse('not_ready');
    const answers = decision['question_answers'];
    if (Array.isArray(answers) && answers.some((item) => isJsonObject(item) && item['question_id'] !== 'one'))
      return refuse('runtime_error');
    this.#deciding.set(`${frame.id} ${String(delivery)}`, print);
    return [];
  }

  result(frame: ScriptFrame, runs: ReadonlyMap<string, ModelRun>): readonly Answer[] {
    const { delivery_id: delivery, ...content } = frame.payload;
    if (frame.id === '' || delivery === '' || content['call_id'] === '') return [];
    const refuse = (code: string): readonly Answer[] => [receipt(frame.id, delivery, code)];
    const key = `${frame.id} ${String(content['call_id'])}`;
    const print = JSON.stringify(content);
    const before = this.#applied.get(`function ${key}`);
    if (before !== undefined)
      return before === print ? [receipt(frame.id, delivery, null)] : refuse('decision_conflict');
    const run = runs.get(frame.id);
    if (!run) return refuse('not_pending');
    if (!run.published || !run.gate) return refuse('not_ready');
    const underWay = this.#results.get(key);
    if (underWay !== undefined && underWay !== print) return refuse('decision_conflict');
    this.#results.set(key, print);
    return [];
  }

  /** A frame that the Runtime sends in its own time, before its fate is known. */
  attempted(frame: ScriptFrame, runs: ReadonlyMap<string, ModelRun>): void {
    if (frame.type === 'interaction_decision_ack') this.#receipt(frame);
    if (frame.type !== 'prompt_steer_ack') return;
    const known = runs.get(frame.id)?.inputs.get(String(frame.payload['input_id']));
    if (known) known.ack = frame.payload;
    if (frame.payload['written'] !== true) this.#lastReceipts.add(frame);
  }

  settled(frame: ScriptFrame, runs: ReadonlyMap<string, ModelRun>): void {
    const run = runs.get(frame.id);
    if (run && this.#lastReceipts.has(frame) && run.busy === frame.payload['input_id']) run.busy = null;
  }

  opened(id: string, run: string, family: string, asked: boolean): void {
    this.#prompts.set(id, { run, family, asked, open: true });
  }
  ended(id: string): void {
    const prompt = this.#prompts.get(id);
    if (prompt) prompt.open = false;
  }

  /** What a function result came to natively. */
  answered(run: string, call: string, result: string): void {
    const key = `${run} ${call}`;
    const print = this.#results.get(key);
    this.#results.delete(key);
    if (print !== undefined && result === 'applied') this.#applied.set(`function ${key}`, print);
  }

  #receipt(frame: ScriptFrame): void {
    const key = `${frame.id} ${String(frame.payload['delivery_id'])}`;
    const print = this.#deciding.get(key);
    const prompt = this.#prompts.get(frame.id);
    if (print === undefined || !prompt) return;
    this.#deciding.delete(key);
    if (frame.payload['applied'] === true) this.#applied.set(`${prompt.family} ${frame.id}`, print);
  }
}
