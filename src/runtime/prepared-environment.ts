import type { McpServer, PreparedEnvironment } from '../harness/adapter.ts';
import type { ExecutionConfiguration } from '../protocol/execution.ts';
import { nothingPrepared } from '../workspace/local-workspace.ts';
import { WorkspaceError } from '../workspace/workspace-error.ts';
import type { PreparedServer, WorkspaceService } from '../workspace/workspace-service.ts';

/**
 * Everything an execution gets beside its own configuration (environment-workspace 5 to 7): the prepared variables,
 * Skills of the frozen snapshot, and public and Plugin servers as one set. Not stored, not logged.
 * @throws WorkspaceError `invalid`: nothing was started.
 */
export async function prepareEnvironment(
  configuration: ExecutionConfiguration,
  workspace: WorkspaceService | null,
): Promise<PreparedEnvironment> {
  const local = configuration.local_environment;
  const wanted = { sources: local?.capability_sources ?? {}, variables: local?.tool_environment === true };
  const prepared = local && workspace ? await workspace.prepared(wanted) : nothingPrepared(wanted);
  const mcpServers = [...publicServers(configuration), ...prepared.servers.map(pluginServer)];
  // Two servers of one name could not be told apart by the model, nor by a permission prompt.
  if (new Set(mcpServers.map(({ name }) => name)).size !== mcpServers.length) {
    throw new WorkspaceError('invalid', 'two MCP servers have one name');
  }
  return { variables: prepared.variables, skills: prepared.skills, mcpServers };
}

const publicServers = (configuration: ExecutionConfiguration): McpServer[] =>
  (configuration.mcp_http_servers ?? []).map((server) => ({
    name: server.server_label,
    allowedTools: server.allowed_tools,
    required: server.required === true,
    transport: {
      kind: 'http',
      url: server.server_url,
      bearer: server.bearer_token ?? null,
      headers: {},
    },
  }));

/** A Plugin does not say that its server is required, so a Turn runs without one that cannot be reached. */
const pluginServer = ({ name, ...transport }: PreparedServer): McpServer => ({
  name,
  allowedTools: null,
  required: false,
  transport,
});
