import type { ExecutionConfiguration } from '../protocol/execution.ts';
import {
  configurationViolation,
  environmentSourcesViolation,
  environmentViolation,
  isViolation,
  prepareViolation,
  readModelOptions,
  readOnlyProfileViolation,
  repeatedHarnessConfig,
  sharedRunViolation,
  stateKeyOf,
} from '../protocol/execution-rules.ts';
import type { ExecutionPreparePayload, PreparationRejectionCode } from '../protocol/preparation.ts';
import { fingerprint } from './fingerprint.ts';
import type { Binding, OfferedHarness } from './ports.ts';

/**
 * The order of checks before an Executor may be prepared (runtime-behaviour 2.4 rows 3 to 8): the first that fails
 * names the code, and none of them has a native effect. `offered` is null for a kind that is unknown, unavailable or
 * paused; `text` is the raw message.
 */
export function checkExecutorConfiguration(
  payload: ExecutionPreparePayload,
  offered: OfferedHarness | null,
  binding: Binding | null,
  text: string,
): PreparationRejectionCode | null {
  if (prepareViolation(payload)) return 'invalid_configuration';
  if (!offered) return 'resource_unavailable';
  const declared = offered.probe.capabilities;
  if (!declared.preparation) return 'unsupported_preparation';
  const { configuration } = payload;
  if (!isBound(configuration, binding)) return 'invalid_configuration';
  if (isViolation(readModelOptions(configuration))) return 'unsupported_configuration';
  if (repeatedHarnessConfig(text, ['payload', 'configuration'])) return 'unsupported_configuration';
  if (configurationViolation(configuration, declared)) return 'unsupported_configuration';
  return null;
}

/** Read-only preparation (runtime-behaviour 2.6 rows 1 to 6). */
export function checkReadOnlyConfiguration(
  payload: ExecutionPreparePayload,
  offered: OfferedHarness | null,
  binding: Binding | null,
): PreparationRejectionCode | null {
  if (!offered) return 'resource_unavailable';
  const declared = offered.probe.capabilities;
  if (!declared.preparation) return 'unsupported_preparation';
  if (!declared.workspace_read_preparation || readOnlyProfileViolation(payload.configuration)) {
    return 'unsupported_read_preparation';
  }
  if (!namesBinding(payload.configuration, binding)) return 'invalid_configuration';
  return environmentViolation(payload.configuration, declared) ? 'unsupported_configuration' : null;
}

/** A direct Run (runtime-behaviour 2.14): null, or the sentence its `error` carries. It never echoes the request. */
export function checkDirectConfiguration(
  configuration: ExecutionConfiguration,
  offered: OfferedHarness,
  binding: Binding | null,
  text: string,
): string | null {
  if (sharedRunViolation(configuration)) return 'The request of this Turn is not valid. Nothing was started.';
  if (!isBound(configuration, binding)) return 'The request names another Environment. Nothing was started.';
  const unsupported =
    isViolation(readModelOptions(configuration)) ||
    repeatedHarnessConfig(text, ['payload']) !== undefined ||
    configurationViolation(configuration, offered.probe.capabilities) !== undefined;
  return unsupported
    ? 'The request asks for something this agent does not support. Nothing was started.'
    : null;
}

/** Identity of a configuration for reuse: without what differs from Turn to Turn (wire 5.3). */
export function configurationFingerprint(configuration: ExecutionConfiguration): string {
  const { run_id, input, agent_session_id, require_existing_native_session, release_on_completion, ...rest } =
    configuration;
  void [run_id, input, agent_session_id, require_existing_native_session, release_on_completion];
  return fingerprint(rest);
}

/** The binding fails closed: a request that does not name it exactly selects nothing else (runtime-behaviour 4.2). */
function isBound(configuration: ExecutionConfiguration, binding: Binding | null): boolean {
  if (!binding) return configuration.local_environment === undefined;
  if (!namesBinding(configuration, binding)) return false;
  const directory = configuration.local_environment?.workspace_directory;
  if (directory !== '/workspace' && directory !== binding.recordedDirectory) return false;
  return environmentSourcesViolation(configuration) === undefined;
}

function namesBinding(configuration: ExecutionConfiguration, binding: Binding | null): boolean {
  return (
    binding !== null &&
    configuration.local_environment?.id === binding.environmentId &&
    configuration.agent_state_key === stateKeyOf(binding.sessionId) &&
    !configuration.disable_execution_environment &&
    configuration.conversation_id === '' &&
    !configuration.workspace_authoring &&
    configuration.strict_resume === true
  );
}
