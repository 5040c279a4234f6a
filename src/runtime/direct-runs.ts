import type { PromptRequestPayload } from '../protocol/execution.ts';
import { checkDirectConfiguration, configurationFingerprint } from './configuration-checks.ts';
import type { ExecutorRecord } from './executors.ts';
import type { AdmissionHost } from './admissions.ts';

/**
 * `prompt_request` (wire 6, runtime-behaviour 2.14 Ours): a Run without an admission, on the same Executors, so that
 * its settlement is the same. Refusals are an `error` and an empty `done`. It is no fallback for a failed start.
 */
export class DirectRuns {
  readonly #host: AdmissionHost;
  /** Runs whose refusal is being told: nothing else may be told of them in between. */
  readonly #refusing = new Set<string>();

  constructor(host: AdmissionHost) {
    this.#host = host;
  }

  refuses(runId: string): boolean {
    return this.#refusing.has(runId);
  }

  receive(runId: string, payload: PromptRequestPayload, trace: string | undefined, text: string): void {
    const { ports, executors } = this.#host;
    const refuse = (why: string): void => void this.#refuse(runId, why, trace);
    // Before every refusal: its done would end the active Run of this id at Core.
    if (this.#host.runIdTaken(runId)) return this.#host.drop('duplicate_run');
    const offered = ports.harness(payload.agent_kind);
    if (!offered || !offered.probe.available || ports.paused()) {
      return refuse('This kind of agent is not available here.');
    }
    const wrong = checkDirectConfiguration(payload, offered, ports.binding, text);
    if (wrong) return refuse(wrong);
    if (this.#host.mutationActive()) return refuse('The workspace is busy. Nothing was started.');
    const stateKey = payload.agent_state_key ?? '';
    // Without a state key there is nothing to come back to: the Executor belongs to this Run alone.
    const key = stateKey === '' ? `run:${runId}` : stateKey;
    const print = configurationFingerprint(payload);
    const existing = executors.byStateKey(key);
    if (existing && (existing.state.state !== 'idle' || existing.fingerprint !== print)) {
      return refuse(
        'The Session of this request is in use or was configured differently. Nothing was started.',
      );
    }
    if (!executors.canActivate || (!existing && !executors.canCreate)) {
      return refuse('All places are taken. Nothing was started.');
    }
    const sessionId = sessionOf(stateKey) ?? key;
    const executor =
      existing ??
      executors.create(
        {
          sessionId,
          stateKey: key,
          environmentId: payload.local_environment?.id ?? null,
          fingerprint: print,
          offered,
        },
        runId,
        {
          sessionId,
          workspace: payload.local_environment ? (ports.binding?.workspace ?? null) : null,
          configuration: payload,
          policy: ports.interactions.policy,
        },
      );
    this.#run(runId, payload, executor, trace, stateKey === '' || payload.release_on_completion === true);
  }

  /** Without its `error` the `done` would read as a success: it is only sent behind it. */
  async #refuse(runId: string, why: string, trace: string | undefined): Promise<void> {
    const { sender } = this.#host;
    const more = trace !== undefined ? { trace } : {};
    this.#refusing.add(runId);
    const told = await sender.send({ type: 'error', id: runId, payload: { error: why }, ...more }, null);
    if (told === 'written')
      await sender.send({ type: 'done', id: runId, payload: { content: '' }, ...more }, null);
    this.#refusing.delete(runId);
  }

  #run(
    runId: string,
    payload: PromptRequestPayload,
    executor: ExecutorRecord,
    trace: string | undefined,
    closeOnCompletion: boolean,
  ): void {
    const fresh = executor.state.state === 'preparing';
    if (!fresh) this.#host.executors.apply(executor, { type: 'run', runId });
    const run = this.#host.createRun({
      id: runId,
      sessionId: executor.sessionId,
      executor,
      trace,
      observeMessages: payload.observe_messages === true,
      observeTools: payload.observe_tool_observations === true,
      observeSubagents: payload.observe_subagent_identities === true,
      closeOnCompletion,
      direct: true,
    });
    this.#host.ports.facts({
      type: 'turn_started',
      runId,
      sessionId: executor.sessionId,
      harness: executor.offered.adapter.kind,
      input: payload.input ?? [],
      canSteer: executor.offered.probe.capabilities.durable_input_receipts,
    });
    void this.#begin(run, payload, fresh);
  }

  async #begin(
    run: ReturnType<AdmissionHost['createRun']>,
    payload: PromptRequestPayload,
    fresh: boolean,
  ): Promise<void> {
    const { executor } = run;
    if (fresh) {
      const prepared = await executor.preparation;
      if (
        prepared.kind === 'failed' ||
        !this.#host.executors.apply(executor, { type: 'run', runId: run.id })
      ) {
        run.output.fail('The agent could not be prepared. Nothing was submitted to it.');
        void run.claim('abort', 'start_failed');
        return;
      }
    }
    if (run.release.state !== 'open') return;
    this.#host.ports.facts({
      type: 'evidence',
      runId: run.id,
      fact: 'prepared',
      by: 'runtime',
      detail: null,
    });
    const outcome = await run.begin(payload.input ?? []);
    if (outcome.kind === 'no_turn') {
      run.output.fail('The agent did not take the Turn. Nothing was submitted to it.');
      void run.claim('abort', 'start_failed');
      return;
    }
    this.#host.ports.facts({ type: 'evidence', runId: run.id, fact: 'started', by: 'harness', detail: null });
    if (run.release.state === 'open') run.publish();
    if (outcome.error !== undefined) void run.claim('abort', 'start_failed');
  }
}

function sessionOf(stateKey: string): string | null {
  const prefix = 'agents-api-';
  return stateKey.startsWith(prefix) && stateKey.length > prefix.length
    ? stateKey.slice(prefix.length)
    : null;
}
