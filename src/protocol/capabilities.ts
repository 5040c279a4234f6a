import * as z from 'zod';

/**
 * Capability declarations (wire 3). A declaration is complete: thirty booleans, every one present even when false
 * and even for an unavailable Harness. There are no defaults; a new name needs a decision in every declaration.
 */
export const capabilityNames = [
  'subagent_observations',
  'streaming',
  'permissions',
  'usage',
  'resume',
  'native_session_recovery',
  'workspace_authoring',
  'steering',
  'message_items',
  'tool_observations',
  'environment_none',
  'local_environment',
  'preparation',
  'workspace_read_preparation',
  'workspace_output_export',
  'programmatic_tool_calling_disable',
  'web_search_control',
  'execution_controls',
  'text_verbosity',
  'structured_output',
  'tool_search',
  'message_images',
  'function_result_images',
  'subagent_control',
  'durable_input_receipts',
  'durable_turns',
  'function_tools',
  'mcp_http_tools',
  'mcp_http_required',
  'mcp_http_bearer_auth',
] as const;
export type CapabilityName = (typeof capabilityNames)[number];
export type CapabilityDeclaration = Readonly<Record<CapabilityName, boolean>>;

/** Rejects omitted, null, non-boolean and unknown members. */
export const capabilityDeclaration = z.record(z.enum(capabilityNames), z.boolean());

/**
 * A complete declaration: everything in `supported` is true and the rest false. For adapters that name what they
 * support; a list cannot leave a capability undecided.
 */
export function declareCapabilities(supported: readonly CapabilityName[]): CapabilityDeclaration {
  const wanted = new Set<string>(supported);
  return capabilityDeclaration.parse(
    Object.fromEntries(capabilityNames.map((name) => [name, wanted.has(name)])),
  );
}

/**
 * What a connection may advertise of a Harness's declaration (wire 3, "Composition"): with a bound folder there is
 * no Environment type `none`, without one there are no workspace fields, and an export needs all three of them.
 */
export function composeCapabilities(
  declared: CapabilityDeclaration,
  binding: { readonly boundFolder: boolean; readonly canExport: boolean },
): CapabilityDeclaration {
  const local = binding.boundFolder && declared.local_environment;
  const read = binding.boundFolder && declared.workspace_read_preparation;
  return {
    ...declared,
    environment_none: declared.environment_none && !binding.boundFolder,
    local_environment: local,
    workspace_read_preparation: read,
    workspace_output_export: declared.workspace_output_export && local && read && binding.canExport,
  };
}
