import type { ExecutionConfiguration } from '../protocol/execution.ts';
import type { PreparationRejectionCode } from '../protocol/preparation.ts';
import type { ExecutorRecord } from './executors.ts';

/**
 * Why an Executor of the same Session cannot serve this configuration now, or null (runtime-behaviour 2.4): never
 * replaced, never shared, and the native Session must be the one that is asked for.
 */
export function reuseConflict(
  existing: ExecutorRecord,
  configuration: ExecutionConfiguration,
  print: string,
): PreparationRejectionCode | null {
  const environmentId = configuration.local_environment?.id ?? null;
  if (existing.environmentId !== environmentId || existing.fingerprint !== print)
    return 'configuration_conflict';
  switch (existing.state.state) {
    case 'closing':
    case 'unconfirmed':
    case 'gone':
      return 'executor_cleanup_unconfirmed';
    case 'preparing':
    case 'admitted':
    case 'running':
      return 'resource_unavailable';
    case 'idle':
      break;
  }
  const wanted = configuration.agent_session_id;
  if (wanted !== undefined && wanted !== existing.nativeSessionId) return 'native_session_conflict';
  if (configuration.require_existing_native_session && existing.nativeSessionId === null)
    return 'history_unavailable';
  return null;
}
