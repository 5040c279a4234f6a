import type { Timer } from '../platform/clock.ts';
import type { ExecutionConfiguration } from '../protocol/execution.ts';
import type { PreparationStatusPayload } from '../protocol/preparation.ts';
import type { AdmissionState } from './admission-state.ts';
import type { ExecutorRecord } from './executors.ts';

/** One reservation. `owned` while it still counts against capacity through its Executor. */
export class Admission {
  readonly handle: string;
  readonly requestId: string;
  readonly requestFingerprint: string;
  readonly executor: ExecutorRecord;
  readonly configuration: ExecutionConfiguration;
  readonly reused: boolean;
  /** Wall-clock deadline as told to Core, Unix milliseconds. */
  readonly expiresAt: number;
  readonly deadline: number;
  readonly trace: string | undefined;
  state: AdmissionState;
  timer: Timer | null = null;
  startFingerprint: string | null = null;
  startPublished = false;

  constructor(
    init: Pick<
      Admission,
      | 'handle'
      | 'requestId'
      | 'requestFingerprint'
      | 'executor'
      | 'configuration'
      | 'reused'
      | 'expiresAt'
      | 'deadline'
      | 'trace'
      | 'state'
    >,
  ) {
    this.handle = init.handle;
    this.requestId = init.requestId;
    this.requestFingerprint = init.requestFingerprint;
    this.executor = init.executor;
    this.configuration = init.configuration;
    this.reused = init.reused;
    this.expiresAt = init.expiresAt;
    this.deadline = init.deadline;
    this.trace = init.trace;
    this.state = init.state;
  }
}

/** What Core is told of it (wire 5.2). */
export function status(admission: Admission): PreparationStatusPayload {
  const { phase, revision } = admission.state;
  return {
    executor_id: admission.executor.id,
    ...(admission.reused ? { reused: true } : {}),
    handle: admission.handle,
    revision,
    state: phase.state,
    expires_at: admission.expiresAt,
    ...('runId' in phase ? { run_id: phase.runId } : {}),
    ...(phase.state === 'failed' ? { error_code: phase.code } : {}),
  };
}
