import type { ExecutionPreparePayload, PreparationRejectionCode } from '../protocol/preparation.ts';

/**
 * Read-only preparations (wire 5.4, runtime-behaviour 2.6). They are served by the bound folder's own code; as long
 * as that is not composed, no kind declares `workspace_read_preparation` and every request is refused before this.
 */
export interface ReadOnlyAdmissions {
  readonly records: number;
  has(handle: string, requestId: string): boolean;
  /** Admits and publishes, or returns the rejection. */
  prepare(
    requestId: string,
    payload: ExecutionPreparePayload,
    trace: string | undefined,
  ): PreparationRejectionCode | null;
  /** True when the handle is one of its own. */
  release(handle: string, requestId: string): boolean;
}
