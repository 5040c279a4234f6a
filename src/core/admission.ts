import type { CapabilityDeclaration } from '../protocol/capabilities.ts';
import type { ExecutionConfiguration } from '../protocol/execution.ts';
import { stateKeyOf } from '../protocol/execution-rules.ts';
import type { CoreConnection } from './connection.ts';
import type { SessionRecord } from './core-state.ts';

/** Why a queued Turn waits, or why it can never run on what the Runtime declares. */
export type AdmissionRefusal =
  | {
      readonly kind: 'wait';
      readonly reason: 'not_connected' | 'capabilities_unknown' | 'kind_not_advertised' | 'kind_unavailable';
    }
  | { readonly kind: 'never'; readonly code: 'preparation_unsupported' | 'environment_unsupported' };

export type Admission =
  { readonly kind: 'admit'; readonly capabilities: CapabilityDeclaration } | AdmissionRefusal;

/**
 * The last check before a Turn is claimed. This Core is for one person's machine and admits a kind by what it
 * declares: a preparation and the Session's Environment type are needed, everything else is used where it is declared.
 */
export function admit(session: SessionRecord, connection: CoreConnection | undefined): Admission {
  if (!connection?.isOpen) return { kind: 'wait', reason: 'not_connected' };
  if (!connection.heartbeat) return { kind: 'wait', reason: 'capabilities_unknown' };
  const descriptor = connection.descriptor(session.harness);
  if (!descriptor) return { kind: 'wait', reason: 'kind_not_advertised' };
  if (!descriptor.available) return { kind: 'wait', reason: 'kind_unavailable' };
  const { capabilities } = descriptor;
  if (!capabilities.preparation) return { kind: 'never', code: 'preparation_unsupported' };
  const environment =
    session.workspaceDirectory === null ? capabilities.environment_none : capabilities.local_environment;
  return environment ? { kind: 'admit', capabilities } : { kind: 'never', code: 'environment_unsupported' };
}

/**
 * The immutable configuration of a Session's Turns under the declaration it was admitted with. Opt-ins and controls
 * are sent where the kind declares them; the workspace is always named by its alias.
 */
export function sessionConfiguration(
  session: SessionRecord,
  capabilities: CapabilityDeclaration,
): ExecutionConfiguration {
  return {
    agent_kind: session.harness,
    conversation_id: '',
    run_id: '',
    execution_controls: capabilities.execution_controls
      ? { web_search: 'disabled', text_verbosity: 'medium' }
      : undefined,
    local_environment:
      session.workspaceDirectory === null
        ? undefined
        : { id: session.environmentId, workspace_directory: '/workspace', capability_sources: null },
    disable_execution_environment: session.workspaceDirectory === null || undefined,
    agent_session_id: session.nativeSessionId ?? undefined,
    agent_state_key: stateKeyOf(session.sessionId),
    strict_resume: true,
    observe_messages: capabilities.message_items || undefined,
    observe_tool_observations: true,
    disable_subagents: capabilities.subagent_control || undefined,
  };
}
