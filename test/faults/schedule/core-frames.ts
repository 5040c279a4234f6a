import type { ScriptFrame } from '../../../src/conformance/scenario.ts';
import type { ReferenceModel } from './reference-model.ts';

export const boundIds = {
  environmentId: '58e2e6ff-46cf-477f-8705-f19c41923382',
  sessionId: '92ea7b07-1c1f-4eb1-b222-b335f2123ed8',
} as const;

/** Prompts that were shown, in their order. */
export interface ShownPrompt {
  readonly id: string;
  readonly family: 'permission' | 'user_choice';
}

/**
 * Turns the numbers of a schedule into frames of a Core that knows what it was told: most are the ones it would send,
 * some repeat an earlier one, some are wrong in one member. Texts and delivery ids are never used twice.
 */
export class CoreFrames {
  readonly #bound: boolean;
  readonly #payloads = new Map<string, Record<string, unknown>>();
  readonly #starts: ScriptFrame[] = [];
  readonly #steers: ScriptFrame[] = [];
  readonly #runIds: string[] = [];
  #requests = 0;
  #runs = 0;
  #texts = 0;

  constructor(bound: boolean) {
    this.#bound = bound;
  }

  nextText(): number {
    return ++this.#texts;
  }

  prepare(session: number, variant: number, again: boolean): ScriptFrame {
    const repeats = again && this.#requests > 0;
    const id = repeats ? `p${1 + (variant % this.#requests)}` : `p${++this.#requests}`;
    const known = this.#payloads.get(id);
    const payload = known && variant % 4 !== 3 ? known : this.#preparation(session, variant);
    if (!known) this.#payloads.set(id, payload);
    return { type: 'execution_prepare', id: variant === 15 && !again ? ' ' : id, payload };
  }

  start(model: ReferenceModel, pick: number, variant: number): ScriptFrame | null {
    const admissions = [...model.admissions.values()];
    const waiting = admissions.filter(({ phase }) => phase === 'ready');
    const from = variant < 11 && waiting.length > 0 ? waiting : admissions;
    const admission = from[pick % Math.max(1, from.length)];
    const repeated = this.#starts[pick % Math.max(1, this.#starts.length)];
    if (!admission) return null;
    if (variant === 15 && repeated) return repeated;
    const run = this.#newRun(model, variant === 14);
    const frame: ScriptFrame = {
      type: 'execution_start',
      id: variant === 13 ? 'p-other' : admission.request,
      payload: {
        executor_id: variant === 12 ? 'executor-other' : admission.executorId,
        handle: admission.handle,
        run_id: run,
        input: variant === 11 ? [] : says('hello'),
      },
    };
    this.#starts.push(frame);
    return frame;
  }

  release(model: ReferenceModel, pick: number, variant: number): ScriptFrame {
    const admissions = [...model.admissions.values()];
    const admission = admissions[pick % Math.max(1, admissions.length)];
    const handle = variant === 15 ? '' : variant === 14 ? 'nobody' : (admission?.handle ?? 'nobody');
    const id = variant === 13 ? 'p-other' : (admission?.request ?? 'p0');
    return { type: 'execution_release', id, payload: { handle } };
  }

  cancel(model: ReferenceModel, pick: number, delivery: number): ScriptFrame {
    const payload = delivery === 0 ? {} : { delivery_id: `cancel-${delivery}` };
    return { type: 'prompt_cancel', id: this.#run(model, pick), payload };
  }

  steer(model: ReferenceModel, pick: number, input: number, variant: number): ScriptFrame {
    const run = this.#run(model, pick);
    const before = this.#steers.filter(({ id }) => id === run);
    const repeated = before[input % Math.max(1, before.length)];
    if (repeated && variant > 9) {
      const otherBody = variant === 15 ? { input: says('changed') } : {};
      const otherFlag = variant === 14 ? { durable_receipt: false } : {};
      return { ...repeated, payload: { ...repeated.payload, ...otherBody, ...otherFlag } };
    }
    const n = this.nextText();
    const id = variant === 9 ? ' ' : `i${n}`;
    const payload = { input_id: id, input: says(`input ${n}`), durable_receipt: variant !== 8 };
    const frame: ScriptFrame = { type: 'prompt_steer', id: run, payload };
    this.#steers.push(frame);
    return frame;
  }

  decide(prompt: ShownPrompt | undefined, variant: number): ScriptFrame {
    const id = variant === 15 ? 'nobody' : (prompt?.id ?? 'nobody');
    const delivery_id = `decision-${this.nextText()}`;
    if ((prompt?.family === 'permission') !== (variant === 14))
      return { type: 'permission_decision', id, payload: { delivery_id, approved: variant % 2 === 0 } };
    const question_answers = [{ question_id: variant === 13 ? 'other' : 'one', answers: ['A'] }];
    const answer = variant % 3 === 2 ? { cancelled: true } : { question_answers };
    return { type: 'prompt_for_user_choice_decision', id, payload: { delivery_id, ...answer } };
  }

  result(run: string | undefined, calls: readonly string[], call: number, variant: number): ScriptFrame {
    const known = calls[call % Math.max(1, calls.length)] ?? `c${call + 1}`;
    const content = [{ type: 'input_text', text: variant % 4 === 3 ? 'other' : 'shipped' }];
    const payload = {
      delivery_id: `function-${this.nextText()}`,
      call_id: variant > 12 ? 'nobody' : known,
      success: true,
      content,
    };
    return { type: 'function_result', id: run ?? 'nobody', payload };
  }

  direct(model: ReferenceModel, session: number, variant: number): ScriptFrame {
    const run = this.#newRun(model, variant === 15);
    const { agent_state_key: key, ...rest } = this.#preparation(session, variant % 2).configuration;
    const kept = variant > 7 && !this.#bound ? {} : { agent_state_key: key };
    const release = variant % 3 === 0 ? { release_on_completion: true } : {};
    const payload = { ...rest, ...kept, ...release, run_id: run, input: says('hello') };
    return { type: 'prompt_request', id: run, payload };
  }

  quiesce(variant: number): ScriptFrame {
    const environment_id = variant === 15 ? boundIds.sessionId : boundIds.environmentId;
    const payload = { environment_id, suspend_id: variant === 14 ? '' : `susp-${variant % 2}` };
    return { type: 'environment_quiesce', id: `q${this.nextText()}`, payload };
  }

  resume(suspendId: string | null, variant: number): ScriptFrame {
    const suspend_id = suspendId === null || variant === 15 ? `susp-${variant % 3}` : suspendId;
    const rollback = variant === 13 ? { rollback: true } : {};
    const payload = { environment_id: boundIds.environmentId, suspend_id, ...rollback };
    return { type: 'environment_resume', id: `u${this.nextText()}`, payload };
  }

  /** No Core gives an ended Run's id to another; an active one is refused. */
  #newRun(model: ReferenceModel, taken: boolean): string {
    const active = [...model.runs.keys()][0];
    const run = taken && active !== undefined ? active : `r${++this.#runs}`;
    this.#runIds.push(run);
    return run;
  }

  /** Most of the time an active one. */
  #run(model: ReferenceModel, pick: number): string {
    const active = [...model.runs.keys()];
    const ids = pick < 6 && active.length > 0 ? active : this.#runIds;
    return ids[pick % Math.max(1, ids.length)] ?? 'nobody';
  }

  #preparation(number: number, variant: number) {
    // A bound Runtime serves its own Session alone; now and then another one is asked for.
    const session = this.#bound && number < 5 ? boundIds.sessionId : `s${number}`;
    const environment = this.#bound
      ? {
          local_environment: {
            id: boundIds.environmentId,
            workspace_directory: '/workspace',
            capability_sources: null,
          },
        }
      : { disable_execution_environment: true };
    const configuration: Record<string, unknown> = {
      agent_kind: variant === 14 ? 'nobody' : 'contract',
      conversation_id: '',
      run_id: '',
      agent_state_key: variant === 13 ? 'agents-api-other' : `agents-api-${session}`,
      strict_resume: variant !== 12,
      ...environment,
      ...(variant === 11 ? { tool_search: true } : {}),
      ...(variant === 10 ? { agent_session_id: 'native-other' } : {}),
      ...(variant === 9 ? { require_existing_native_session: true } : {}),
      ...(variant === 8 ? { observe_messages: true } : {}),
      ...(variant === 7 ? { release_on_completion: true } : {}),
      ...(variant === 6 ? { agent_session_id: 'native-1' } : {}),
    };
    return { session_id: session, configuration };
  }
}

const says = (text: string) => [{ content: [{ type: 'input_text', text }] }];
