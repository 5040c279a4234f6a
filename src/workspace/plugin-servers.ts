import * as z from 'zod';
import { WorkspaceError } from './workspace-error.ts';

const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);
/** Inside of the package: no absolute path, no way up. */
const inside = z
  .string()
  .refine((path) => !/^([\\/]|[A-Za-z]:)/.test(path) && !path.split(/[\\/]/).includes('..'));

const httpServer = z.strictObject({
  type: z.enum(['http', 'streamable_http']).optional(),
  url: z.string().refine(isHttpUrl),
  bearer_token_env_var: variable.optional(),
  http_headers: z.record(z.string().min(1), z.string()).optional(),
});
const stdioServer = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env_vars: z.array(variable).optional(),
  cwd: inside.optional(),
});

/** One MCP server that a Plugin declares, as it is kept in the manifest: names of variables, never their values. */
export const pluginServer = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('http'),
    name,
    url: z.string(),
    bearerVariable: z.string().nullable(),
    headers: z.record(z.string(), z.string()),
  }),
  z.strictObject({
    kind: z.literal('stdio'),
    name,
    command: z.string(),
    args: z.array(z.string()),
    variables: z.array(z.string()),
    /** Relative to the snapshot. */
    cwd: z.string(),
  }),
]);
export type PluginServer = z.output<typeof pluginServer>;

const servers = z.record(name, z.union([httpServer, stdioServer]));
const declaration = z.union([z.strictObject({ mcpServers: servers }), servers]);

/**
 * The servers of a Plugin's `.mcp.json` (environment-workspace 7, "Plugin MCP"). `folder`: where the package lies in
 * the snapshot, slash-separated.
 * @throws WorkspaceError `invalid` for anything that is not exactly one of the two accepted forms.
 */
export function readPluginServers(file: Buffer, folder: string): PluginServer[] {
  const parsed = declaration.safeParse(parseJson(file.toString('utf8')));
  if (!parsed.success) throw new WorkspaceError('invalid', 'its .mcp.json is none we read');
  const named = isWrapped(parsed.data) ? parsed.data.mcpServers : parsed.data;
  return Object.entries(named).map(([label, server]): PluginServer => {
    if ('url' in server) {
      const { url, bearer_token_env_var = null, http_headers = {} } = server;
      return { kind: 'http', name: label, url, bearerVariable: bearer_token_env_var, headers: http_headers };
    }
    const { command, args = [], env_vars = [], cwd = '.' } = server;
    const place = [folder, ...cwd.split(/[\\/]/).filter((part) => part !== '' && part !== '.')].join('/');
    return { kind: 'stdio', name: label, command, args, variables: env_vars, cwd: place };
  });
}

type Servers = z.output<typeof servers>;
const isWrapped = (value: z.output<typeof declaration>): value is { mcpServers: Servers } =>
  'mcpServers' in value && !('url' in value.mcpServers || 'command' in value.mcpServers);

function isHttpUrl(text: string): boolean {
  try {
    const { protocol, username, password, hash } = new URL(text);
    return /^https?:$/.test(protocol) && username === '' && password === '' && hash === '';
  } catch {
    return false;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
