import type { McpServer } from '../adapter.ts';

export interface MappedServer {
  readonly name: string;
  readonly config: Record<string, unknown>;
  /** Variables of the process that hold what is secret. */
  readonly references: Record<string, string>;
}

/** A server in the program's form. What is secret of an address goes by the name of a variable. */
export function mapServer(server: McpServer, index: number): MappedServer {
  const { transport } = server;
  const common = {
    enabled: true,
    required: server.required,
    startup_timeout_sec: 30,
    ...(server.allowedTools === null ? {} : { enabled_tools: server.allowedTools }),
  };
  if (transport.kind === 'stdio') {
    const { command, args, env, cwd } = transport;
    return { name: server.name, config: { ...common, command, args, env, cwd }, references: {} };
  }
  const references: Record<string, string> = {};
  const refer = (what: string, value: string): string => {
    const name = `AGENT_RUNTIME_MCP_${index + 1}_${what}`;
    references[name] = value;
    return name;
  };
  const headers = Object.entries(transport.headers).map(
    ([header, value], at) => [header, refer(`HEADER_${at + 1}`, value)] as const,
  );
  const config = {
    ...common,
    url: transport.url,
    ...(transport.bearer === null ? {} : { bearer_token_env_var: refer('BEARER', transport.bearer) }),
    ...(headers.length === 0 ? {} : { env_http_headers: Object.fromEntries(headers) }),
  };
  return { name: server.name, config, references };
}
