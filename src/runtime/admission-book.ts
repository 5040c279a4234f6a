import type { Admission } from './admission.ts';
import { isOpen } from './admission-state.ts';
import { capacity } from './limits.ts';
import type { Run } from './run.ts';

/** What else counts, and what an admission may still own. */
export interface BookHost {
  /** Records of other families, in the same bound. */
  otherRecords(): number;
  run(id: string): Run | undefined;
  /** Monotonic milliseconds. */
  now(): number;
}

/** The 64 admissions that are remembered, so that a repeat is recognized (runtime-behaviour 2.7). */
export class AdmissionBook {
  readonly #host: BookHost;
  readonly #byHandle = new Map<string, Admission>();
  readonly #byRequest = new Map<string, Admission>();

  constructor(host: BookHost) {
    this.#host = host;
  }

  get size(): number {
    return this.#byHandle.size;
  }
  get all(): readonly Admission[] {
    return [...this.#byHandle.values()];
  }
  get full(): boolean {
    return this.#byHandle.size + this.#host.otherRecords() >= capacity.admissionRecords;
  }
  byHandle(handle: string): Admission | undefined {
    return this.#byHandle.get(handle);
  }
  byRequest(requestId: string): Admission | undefined {
    return this.#byRequest.get(requestId);
  }

  add(admission: Admission): void {
    this.#byHandle.set(admission.handle, admission);
    this.#byRequest.set(admission.requestId, admission);
  }

  /** Settled records past their deadline leave first, then the settled one with the earliest deadline. */
  prune(): void {
    const now = this.#host.now();
    const settled = this.all.filter((admission) => !this.#owns(admission));
    for (const admission of settled) if (admission.deadline <= now) this.#forget(admission);
    if (!this.full) return;
    const oldest = settled
      .filter((admission) => this.#byHandle.has(admission.handle))
      .sort((a, b) => a.deadline - b.deadline)[0];
    if (oldest) this.#forget(oldest);
  }

  /** Its Executor is reserved for it, or its Run has not settled, wherever the Executor is by then. */
  #owns(admission: Admission): boolean {
    const { phase } = admission.state;
    if (isOpen(admission.state)) return true;
    return 'runId' in phase && this.#host.run(phase.runId)?.executor === admission.executor;
  }

  #forget(admission: Admission): void {
    this.#byHandle.delete(admission.handle);
    if (this.#byRequest.get(admission.requestId) === admission) this.#byRequest.delete(admission.requestId);
  }
}
