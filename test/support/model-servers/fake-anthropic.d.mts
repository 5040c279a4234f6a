export interface ModelCall {
  readonly about: {
    readonly model: string;
    readonly lastUser: string;
    readonly lastTool: string;
    readonly tools: readonly string[];
  };
  readonly body: {
    readonly messages: readonly unknown[];
    readonly system?: unknown;
    readonly tools?: readonly Record<string, unknown>[];
    readonly model?: string;
  };
  /** The client hung up before the answer was complete. */
  readonly aborted: boolean;
}

export interface FakeModel {
  readonly url: string;
  readonly port: number;
  /** Every request, also those that took no reply. */
  readonly requests: readonly { readonly method: string; readonly path: string }[];
  readonly calls: readonly ModelCall[];
  readonly left: number;
  setScenario(scenario: unknown): void;
  release(gate: string): void;
  reached(gate: string): Promise<void>;
  close(): Promise<void>;
}

export function startFakeAnthropic(options?: {
  readonly scenario?: unknown;
  readonly port?: number;
  readonly log?: boolean;
}): Promise<FakeModel>;
