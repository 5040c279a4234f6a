import type { Executor, PrepareOutcome } from './adapter.ts';

type Failed = Extract<PrepareOutcome, { readonly kind: 'failed' }>;

/** Nothing native is left. `message` is for a person. */
export const failed = (message: string): Failed => ({ kind: 'failed', message });

/** Ends what was started for a preparation; what does not end is handed on, so that the Runtime keeps and closes it. */
export async function giveUp(executor: Executor, message: string): Promise<Failed> {
  const closed = await executor.close();
  return closed.state === 'closed' ? failed(message) : { ...failed(message), resource: executor };
}
