export interface ResponsesCall {
  readonly about: {
    readonly model: string;
    /** Instructions and developer messages. */
    readonly system: string;
    readonly lastUser: string;
    readonly lastTool: string;
    readonly tools: readonly string[];
  };
  readonly body: {
    readonly input: readonly Record<string, unknown>[];
    readonly instructions?: string;
    readonly tools?: readonly Record<string, unknown>[];
    readonly model?: string;
    readonly text?: Record<string, unknown>;
    readonly reasoning?: Record<string, unknown>;
  };
  /** The client hung up before the answer was complete. */
  readonly aborted: boolean;
}

export interface FakeOpenAI {
  readonly url: string;
  readonly port: number;
  /** Every request, also those that took no reply. */
  readonly requests: readonly {
    readonly method: string;
    readonly path: string;
    /** Which kind of credential header came; never the credential. */
    readonly auth?: string;
  }[];
  readonly calls: readonly ResponsesCall[];
  readonly left: number;
  setScenario(scenario: unknown): void;
  release(gate: string): void;
  reached(gate: string): Promise<void>;
  close(): Promise<void>;
}

export function startFakeOpenAI(options?: {
  readonly scenario?: unknown;
  readonly port?: number;
  readonly log?: boolean;
}): Promise<FakeOpenAI>;
