import { asError } from '../observe/errors.ts';
import type {
  RuntimePrepareBegin,
  RuntimePreparePayload,
  RuntimePrepareRejectionCode,
  RuntimePrepareResultPayload,
} from '../protocol/initialization.ts';
import { RUNTIME_PREPARE_MS } from '../protocol/limits.ts';
import type { PrepareResult, WorkspaceService } from '../workspace/workspace-service.ts';
import type { Spool } from '../workspace/spool.ts';
import { BodyPlace } from './body-place.ts';
import { replyBudget, type Applied, type BodyRefusal } from './body-transfer.ts';
import type { Activity } from './exclusion.ts';
import type { DropReason } from './facts.ts';
import type { RuntimePorts, SendResult, Sender } from './ports.ts';

export interface PreparationHost {
  readonly ports: RuntimePorts;
  readonly sender: Sender;
  /** What forbids a preparation to begin, another preparation aside. */
  blockedBy(): Activity | null;
  drop(reason: DropReason): void;
  closed(): boolean;
}

type Result = RuntimePrepareResultPayload;
const rejected = (code: RuntimePrepareRejectionCode): Result => ({ outcome: 'rejected', error_code: code });

/** `runtime_prepare` (wire 13, runtime-behaviour 2.20): one step of initialization at a time, never repeated. */
export class RuntimePreparations {
  readonly #host: PreparationHost;
  readonly #place: BodyPlace<Result, null>;

  constructor(host: PreparationHost) {
    this.#host = host;
    this.#place = new BodyPlace(host, 'prepare');
  }

  /** Also while one is left uncertain. */
  get active(): boolean {
    return this.#place.taken;
  }
  /** The id of a step whose outcome is unknown. */
  get unknown(): string | null {
    return this.#place.unknown;
  }

  receive(id: string, payload: RuntimePreparePayload, trace: string | undefined): void {
    if (!this.#place.passes(id, payload)) return;
    const { workspace } = this.#host.ports;
    if (!workspace) return this.#answer(id, trace, rejected('runtime_preparation_unsupported'));
    if (payload.step === 'begin') return this.#begin(id, payload, workspace, trace);
    this.#answer(id, trace, rejected('resource_unavailable'));
  }

  /** A frame that is no valid one: one of the pending transfer ends it, without an answer of its own. */
  refuse(id: string, trace: string | undefined): void {
    if (this.#place.passesInvalid(id, true)) this.#answer(id, trace, rejected('invalid_request'));
  }

  /** True when nothing of it runs. A step that may have had an effect is not repeated by anybody. */
  async shutdown(): Promise<boolean> {
    await this.#place.end(true);
    const { unknown } = this.#place;
    if (unknown !== null) await this.settle(unknown);
    return !this.#place.taken;
  }

  /** Looks whether anything of an unknown step still runs; with nothing left its place is free. */
  async settle(id: string): Promise<boolean | null> {
    const { workspace } = this.#host.ports;
    if (!workspace) return null;
    return this.#place.settle(id, 'Looking whether anything of it still runs.', async () => {
      const result = await workspace.settlePreparation(id);
      return result.state === 'closed' ? null : result.reason;
    });
  }

  /** A person stops the step. Core is told what became of it, as of every other end. */
  stop(id: string): boolean {
    return this.#place.stop(id);
  }

  /** A person decided. */
  force(id: string): boolean {
    return this.#place.force(id);
  }

  #begin(
    id: string,
    begin: RuntimePrepareBegin,
    workspace: WorkspaceService,
    trace: string | undefined,
  ): void {
    const reject = (code: RuntimePrepareRejectionCode): void => this.#answer(id, trace, rejected(code));
    if (this.#place.taken) return reject('runtime_preparation_capacity');
    const { binding } = this.#host.ports;
    const bound = begin.environment_id === binding?.environmentId && begin.session_id === binding.sessionId;
    if (!bound || this.#host.blockedBy()) return reject('resource_unavailable');
    const send = (result: Result): Promise<SendResult> => this.#send(id, trace, result);
    const budget = begin.budget_ms ?? RUNTIME_PREPARE_MS;
    const hasBody = begin.action !== 'initialize' && begin.action !== 'finalize';
    const init = {
      id,
      step: stepOf(begin),
      size: begin.size_bytes,
      sha256: begin.sha256,
      createBody: hasBody ? () => workspace.spool(id) : null,
      stagingMs: Math.min(budget, RUNTIME_PREPARE_MS),
      budgetMs: budget,
      ready: () => send({ outcome: 'ready' }),
      received: (offset: number) => send({ outcome: 'received', offset }),
      refused: (why: BodyRefusal) => rejected(refusalCode(why)),
      apply: (body: Spool | null, signal: AbortSignal) => this.#apply(workspace, id, begin, body, signal),
      tell: send,
    };
    this.#place.take(init, null);
  }

  async #apply(
    workspace: WorkspaceService,
    id: string,
    begin: RuntimePrepareBegin,
    body: Spool | null,
    signal: AbortSignal,
  ): Promise<Applied<Result>> {
    const { logger, clock } = this.#host.ports;
    const started = clock.monotonic();
    const result = await workspace
      .prepare(id, begin, body, signal)
      .catch((error: unknown): PrepareResult => ({
        kind: 'unknown',
        settled: false,
        why: asError(error).name,
      }));
    const ms = Math.round(clock.monotonic() - started);
    const why = result.kind === 'completed' ? null : result.why;
    logger.info('prepare.ended', { id, step: stepOf(begin), kind: result.kind, ms, why });
    switch (result.kind) {
      case 'completed':
        return {
          kind: 'settled',
          result: { outcome: 'completed', ...(begin.size_bytes > 0 ? { size_bytes: begin.size_bytes } : {}) },
        };
      case 'rejected':
        return { kind: 'settled', result: rejected('runtime_preparation_rejected') };
      case 'failed':
        return {
          kind: 'settled',
          result: {
            outcome: 'failed',
            error_code: 'runtime_preparation_failed',
            ...(result.exitCode === null ? {} : { exit_code: result.exitCode }),
          },
        };
      case 'unknown':
        this.#place.report(
          id,
          'unconfirmed',
          result.settled
            ? 'A step of preparing this folder was interrupted. Nothing of it runs any more; what it did is not known.'
            : 'A step of preparing this folder was interrupted, and it may still run.',
        );
        return {
          kind: 'unknown',
          result: { outcome: 'unknown', error_code: 'runtime_preparation_unconfirmed' },
        };
    }
  }

  #answer(id: string, trace: string | undefined, result: Result): void {
    void this.#send(id, trace, result);
  }
  #send(id: string, trace: string | undefined, payload: Result): Promise<SendResult> {
    if (this.#host.closed()) return Promise.resolve('failed');
    return this.#host.sender.send({ type: 'runtime_prepare_result', id, payload, trace }, replyBudget);
  }
}

const refusalCode = (why: BodyRefusal): RuntimePrepareRejectionCode =>
  why === 'storage' || why === 'stopped' ? 'runtime_preparation_rejected' : 'invalid_request';

const stepOf = (begin: RuntimePrepareBegin): string =>
  begin.action === 'initialize' ? begin.initialization.action : begin.action;
