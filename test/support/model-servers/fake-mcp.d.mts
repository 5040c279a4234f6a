export interface FakeMcpTool {
  readonly description?: string;
  readonly inputSchema?: Record<string, unknown>;
  readonly annotations?: Record<string, unknown>;
  /** Text or a whole MCP result. */
  run(
    args: Record<string, unknown>,
    context: { elicit(params: Record<string, unknown>): Promise<unknown> },
  ): unknown;
}

export interface FakeMcp {
  readonly url: string;
  /** Every message that came, in order. No credential is kept. */
  readonly calls: readonly {
    readonly method?: string;
    readonly params?: unknown;
    readonly bearer: boolean;
    readonly authorised: boolean;
  }[];
  close(): Promise<void>;
}

export function startFakeMcp(options?: {
  /** Required of every request. */
  readonly token?: string;
  /** HTTP status for every request. */
  readonly fail?: number;
  readonly initDelayMs?: number;
  readonly port?: number;
  readonly tools?: Readonly<Record<string, FakeMcpTool>>;
}): Promise<FakeMcp>;
