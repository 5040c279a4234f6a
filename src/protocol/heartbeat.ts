import * as z from 'zod';

import { capabilityDeclaration } from './capabilities.ts';
import { expected, flag, integer, list, optional, required, text, written } from './presence.ts';

/**
 * `heartbeat` (wire 3), Runtime to Core, no id: at once after connecting and then at the bootstrap interval. It shows
 * liveness and what is offered, never progress. An invalid one clears Core's admission snapshot and ends the
 * connection.
 */
export const agentKindDescriptor = z.object({
  kind: expected(text),
  available: written(flag),
  version: optional(text),
  capabilities: required(capabilityDeclaration),
});
export type AgentKindDescriptor = z.output<typeof agentKindDescriptor>;

export const heartbeatPayload = z.object({
  /** Unix seconds. */
  ts: written(integer),
  active_requests: written(integer),
  /** Build version, unrelated to the wire version. */
  daemon_version: optional(text),
  /** A kind that is missing is not advertised. */
  supported_agent_kinds: optional(list(agentKindDescriptor)),
});
export type HeartbeatPayload = z.output<typeof heartbeatPayload>;

/** The descriptor that counts for `kind`: the first one. */
export const descriptorOf = (payload: HeartbeatPayload, kind: string): AgentKindDescriptor | undefined =>
  payload.supported_agent_kinds?.find((descriptor) => descriptor.kind === kind);
