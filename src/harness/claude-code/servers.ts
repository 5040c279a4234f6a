import { delay, type Clock } from '../../platform/clock.ts';
import { OWNER_VARIABLE } from '../../platform/process-tree.ts';
import type { McpServer } from '../adapter.ts';
import { inPackageFolder } from '../plugin-command.ts';
import type { ClaudeClient } from './client.ts';
import { hookCallback, mcpStatus, type ControlRequest } from './native-types.ts';

/** A required server may start slowly; the first native input waits for it. */
const REQUIRED_LIMIT_MS = 30_000;
const STATUS_LIMIT_MS = 10_000;
const STATUS_PAUSE_MS = 250;

/** Names that can be a part of the program's tool names and be taken out of them again. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export const isServerName = (name: string): boolean => NAME.test(name) && !name.includes('__');

type Policies = ReadonlyMap<string, readonly string[]>;

/**
 * Servers in the program's form. It is sent over standard input: on the command line tokens would be for everybody to
 * read. `denied`: tools that were seen and are not on the list of their server.
 */
export function nativeServers(
  servers: readonly McpServer[],
  owner: string | undefined,
  denied: Policies = new Map(),
): Record<string, unknown> {
  return Object.fromEntries(
    servers.map(({ name, transport }) => {
      const tools = (denied.get(name) ?? []).map((tool) => ({
        name: tool,
        permission_policy: 'always_deny',
      }));
      const policies = tools.length > 0 ? { tools } : {};
      if (transport.kind === 'http') {
        const { url, headers, bearer } = transport;
        const authorization = bearer === null ? {} : { Authorization: `Bearer ${bearer}` };
        return [name, { type: 'http', url, headers: { ...headers, ...authorization }, ...policies }];
      }
      const { command, args, env, cwd } = transport;
      const tracked = owner === undefined ? env : { ...env, [OWNER_VARIABLE]: owner };
      return [
        name,
        {
          type: 'stdio',
          ...inPackageFolder(command, args, cwd, process.platform),
          env: tracked,
          ...policies,
        },
      ];
    }),
  );
}

/** The hook that keeps tools off which are not on a server's list, whatever rule would allow them. */
export const listHooks = (servers: readonly McpServer[]): Record<string, unknown> =>
  servers.some(({ allowedTools }) => allowedTools !== null)
    ? { hooks: { PreToolUse: [{ matcher: 'mcp__.*', hookCallbackIds: ['listed-tools'] }] } }
    : {};

/** Answer to the hook's question. Anything that cannot be read is denied. */
export function hookAnswer(servers: readonly McpServer[], request: ControlRequest): Record<string, unknown> {
  const parsed = hookCallback.safeParse(request.request);
  if (parsed.success && isListed(servers, parsed.data.input.tool_name)) return {};
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: 'This tool is not among those that may be used.',
    },
  };
}

function isListed(servers: readonly McpServer[], tool: string): boolean {
  const server = servers.find(({ name }) => tool.startsWith(`mcp__${name}__`));
  if (!server || server.allowedTools === null) return true;
  return server.allowedTools.includes(tool.slice(`mcp__${server.name}__`.length));
}

/**
 * Waits until required servers are connected and takes tools that are not on a server's list out of the model's sight.
 * No model request is made. Null when all is well, else why not, for a person.
 */
export async function settleServers(
  ports: { readonly client: ClaudeClient; readonly clock: Clock },
  servers: readonly McpServer[],
  owner: string | undefined,
  signal: AbortSignal,
): Promise<string | null> {
  const problem = await connect(ports, servers, signal);
  const listed = servers.filter(({ allowedTools }) => allowedTools !== null);
  if (problem !== null || listed.length === 0) return problem;
  const denied = new Map<string, readonly string[]>();
  for (const { name, tools } of await status(ports.client)) {
    const allowed = listed.find((server) => server.name === name)?.allowedTools;
    if (!allowed) continue;
    denied.set(
      name,
      (tools ?? []).map((tool) => tool.name).filter((tool) => !allowed.includes(tool)),
    );
  }
  if ([...denied.values()].every((tools) => tools.length === 0)) return null;
  await ports.client.control(
    { subtype: 'mcp_set_servers', servers: nativeServers(servers, owner, denied) },
    STATUS_LIMIT_MS,
  );
  return connect(ports, servers, signal);
}

async function connect(
  { client, clock }: { readonly client: ClaudeClient; readonly clock: Clock },
  servers: readonly McpServer[],
  signal: AbortSignal,
): Promise<string | null> {
  const until = clock.monotonic() + REQUIRED_LIMIT_MS;
  for (;;) {
    const seen = new Map((await status(client)).map((server) => [server.name, server.status]));
    if (signal.aborted) return 'The preparation was cancelled.';
    const missing = servers.filter(({ name, required }) => required && seen.get(name) !== 'connected');
    if (missing.length === 0) return null;
    const waits = missing.every(({ name }) => seen.get(name) === 'pending');
    if (!waits || clock.monotonic() >= until) {
      const names = missing.map(({ name }) => name).join(', ');
      return `A required MCP server could not be reached or refused the sign-in: ${names}.`;
    }
    await delay(clock, STATUS_PAUSE_MS);
  }
}

async function status(client: ClaudeClient) {
  const parsed = mcpStatus.safeParse(await client.control({ subtype: 'mcp_status' }, STATUS_LIMIT_MS));
  return parsed.success ? parsed.data.mcpServers : [];
}
