import type { CloseResult } from '../ownership/owned.ts';
import type { CapabilityDeclaration } from '../protocol/capabilities.ts';
import type { ExecutionConfiguration } from '../protocol/execution.ts';
import type { InputContent, MessageInput } from '../protocol/message-input.ts';
import type {
  CommandOutputPayload,
  DeltaPayload,
  DonePayload,
  ErrorPayload,
  OutputMessagePayload,
  ThinkingPayload,
  ToolCallPayload,
  UsagePayload,
} from '../protocol/run-output.ts';
import type { ChoiceQuestion } from '../protocol/interactions.ts';
import type { FunctionCallPayload } from '../protocol/functions.ts';
import type {
  SubagentCoordinationPayload,
  SubagentIdentityPayload,
  SubagentItemPayload,
  SubagentLifecyclePayload,
  SubagentTurnPayload,
} from '../protocol/subagents.ts';

/**
 * The contract every Harness fulfils (runtime-behaviour.md section 3). An adapter drives one native program; the
 * Runtime owns admission, receipts, settlement and what is told to Core. Nothing here is a wire frame by itself: ids
 * of interactions and sequence numbers are the Runtime's.
 */

/** Result of looking for the native program. Runs again while the Runtime runs, so it must be cheap and bounded. */
export interface Probe {
  readonly available: boolean;
  /** False when the program was not found at all. Left out where nothing needs to be installed, or it is. */
  readonly installed?: boolean;
  readonly version: string | null;
  /** For a person: why it is unavailable and which command to run, or a note about an available one. */
  readonly reason: string | null;
  readonly capabilities: CapabilityDeclaration;
}

export type InteractionPolicy = 'ask' | 'accept_edits' | 'unattended';

/** One effective MCP server of an execution, public or of a Plugin (environment-workspace 7). Kept in memory alone. */
export interface McpServer {
  /** Unique within an execution. */
  readonly name: string;
  /** Null: all tools. */
  readonly allowedTools: readonly string[] | null;
  /** Must be initialized before the first native input. */
  readonly required: boolean;
  readonly transport:
    | {
        readonly kind: 'http';
        readonly url: string;
        /** Secret: reaches the Harness by standard input or a reference variable, never an argument or a file. */
        readonly bearer: string | null;
        readonly headers: Readonly<Record<string, string>>;
      }
    | {
        readonly kind: 'stdio';
        readonly command: string;
        readonly args: readonly string[];
        /** The selected variables alone, values filled in. Secret like a bearer. */
        readonly env: Readonly<Record<string, string>>;
        readonly cwd: string;
      };
}

export interface InstalledSkill {
  readonly name: string;
  readonly description: string;
  /** Absolute private folder that holds `SKILL.md`. Read-only for the adapter. */
  readonly folder: string;
}

/** What was prepared for the Environment of an execution (environment-workspace 4 to 7). Nothing of it is from the wire but the public MCP servers. */
export interface PreparedEnvironment {
  /** Variables for the agent's tools, where the execution asks for them. May be secret. */
  readonly variables: Readonly<Record<string, string>>;
  /** Of Skills, Plugins and capability directories, in the order of the selection. */
  readonly skills: readonly InstalledSkill[];
  readonly mcpServers: readonly McpServer[];
}

export interface PrepareRequest {
  readonly sessionId: string;
  /** The bound folder (absolute, real path), or null for Environment type `none`. */
  readonly workspace: string | null;
  /** A private folder that lives as long as the Session, for native state the adapter keeps. */
  readonly stateDir: string;
  readonly configuration: ExecutionConfiguration;
  readonly policy: InteractionPolicy;
  readonly prepared: PreparedEnvironment;
}

/**
 * `failed` with a `resource`: the native thing exists and its close was not confirmed; the Runtime keeps and
 * closes it. No model input is ever submitted by a preparation.
 */
export type PrepareOutcome =
  | { readonly kind: 'ready'; readonly executor: Executor }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly resource?: { close(): Promise<CloseResult> };
    };

export interface HarnessAdapter {
  readonly kind: string;
  /** Display name. */
  readonly name: string;
  probe(): Promise<Probe>;
  prepare(request: PrepareRequest, signal: AbortSignal): Promise<PrepareOutcome>;
}

export interface Executor {
  /** Native Session id once known; continuity of the Executor. */
  readonly nativeSessionId: string | null;
  /** Resolves with a reason when the native process ends or breaks while nobody asked it to. Never rejects. */
  readonly broken: Promise<string>;
  startTurn(runId: string, input: MessageInput, output: TurnOutput): Promise<StartOutcome>;
  /**
   * Ends all native work. `closed` only when every process of the group is verified gone. May be called again
   * after `unconfirmed`, and at any time, also while `startTurn` is pending.
   */
  close(): Promise<CloseResult>;
}

/**
 * `no_turn` promises that no native input was submitted and `output` is not retained. Once input may have been
 * submitted a Turn is returned, even with an `error`.
 */
export type StartOutcome =
  | { readonly kind: 'no_turn'; readonly message: string }
  | { readonly kind: 'turn'; readonly turn: HarnessTurn; readonly error?: string };

/**
 * What sub-agents do (wire 15), in the order of that section, and only what the Harness itself says of them. Emitted
 * only where the configuration has `observe_subagent_identities`.
 */
export type SubagentEvent =
  | { readonly type: 'subagent_identity'; readonly payload: SubagentIdentityPayload }
  | { readonly type: 'subagent_lifecycle'; readonly payload: SubagentLifecyclePayload }
  | { readonly type: 'subagent_turn'; readonly payload: SubagentTurnPayload }
  | { readonly type: 'subagent_item'; readonly payload: SubagentItemPayload }
  | { readonly type: 'subagent_coordination'; readonly payload: SubagentCoordinationPayload };

/** What an adapter emits. Everything belongs to the Turn whose output it was given; `done` comes exactly once, last. */
export type HarnessEvent =
  /** `sequence` is stamped by the Runtime. */
  | { readonly type: 'delta'; readonly payload: Omit<DeltaPayload, 'sequence'> }
  | { readonly type: 'thinking'; readonly payload: Omit<ThinkingPayload, 'sequence'> }
  | { readonly type: 'output_message'; readonly payload: OutputMessagePayload }
  | { readonly type: 'tool_call'; readonly payload: ToolCallPayload }
  | { readonly type: 'command_output'; readonly payload: CommandOutputPayload }
  | { readonly type: 'usage'; readonly payload: UsagePayload }
  | { readonly type: 'function_call'; readonly payload: FunctionCallPayload }
  | { readonly type: 'permission'; readonly request: NativePermission }
  | { readonly type: 'choice'; readonly request: NativeChoice }
  /** The Harness took a permission or choice back; `key` as in the request. */
  | { readonly type: 'withdrawn'; readonly key: string }
  | SubagentEvent
  /** Something only the person at the laptop should know (a retry, a control that is not enforced). Not on the wire. */
  | { readonly type: 'notice'; readonly text: string; readonly fact?: 'not_enforced' }
  | { readonly type: 'error'; readonly payload: ErrorPayload }
  | { readonly type: 'done'; readonly payload: DonePayload };

/** What the prompt shows large; the same shape as the front end's `PromptSubject`. */
export type NativeSubject =
  | { readonly kind: 'command'; readonly command: string; readonly cwd: string | null }
  | { readonly kind: 'file_change'; readonly changes: readonly NativeFileChange[] }
  | {
      readonly kind: 'network';
      readonly host: string;
      readonly port: number | null;
      readonly protocol: string | null;
    }
  | { readonly kind: 'tool'; readonly name: string; readonly server: string | null; readonly input: unknown };

export interface NativeFileChange {
  readonly path: string;
  readonly kind: 'add' | 'delete' | 'update';
  /** Unified diff hunks. */
  readonly diff: string;
  /** Left out when the adapter did not check. */
  readonly insideWorkspace?: boolean;
}

export interface NativePermission {
  /** Native identity, unique within the Turn; decisions and withdrawals name it. */
  readonly key: string;
  readonly tool: string;
  readonly title: string;
  /** What the agent wrote as its reason. */
  readonly reason: string | null;
  readonly subject: NativeSubject;
  /** Free-form native request for Core. Must hold no secret. */
  readonly payload: Readonly<Record<string, unknown>>;
  /**
   * What would be done, without ids of the call and the agent's words about it: two requests with an equal `input`
   * (and tool and subject) are one to a rule. Left out: the payload.
   */
  readonly input?: unknown;
  /** The Harness takes another input with an allowance; this is the one it asked with. */
  readonly editable?: Readonly<Record<string, unknown>>;
  /** A limit of the Harness's own, milliseconds. */
  readonly expiresInMs: number | null;
  /**
   * A change of files that all lie in the workspace, of a Harness that has no setting to let them through: the
   * Runtime allows it under the policy `accept_edits`.
   */
  readonly isEditInside?: true;
}

export interface NativeChoice {
  readonly key: string;
  readonly questions: readonly ChoiceQuestion[];
  readonly toolUseId: string | null;
  readonly expiresInMs: number | null;
}

export type PermissionAnswer =
  | { readonly kind: 'allow'; readonly updatedInput?: Readonly<Record<string, unknown>> }
  | { readonly kind: 'deny'; readonly message: string | null }
  /** Nobody answered in time: the Harness's own form of "no answer", never an approval. */
  | { readonly kind: 'expired' };

export type ChoiceAnswer =
  | { readonly kind: 'answers'; readonly answers: ReadonlyMap<string, readonly string[]> }
  | { readonly kind: 'cancelled'; readonly reason: string | null }
  | { readonly kind: 'expired' };

/**
 * `applied`: the native reply was submitted and settled. `not_pending`: the Harness does not know the request any
 * more. `failed`: the native call failed and the request is still open.
 */
export type SubmitResult = 'applied' | 'not_pending' | 'failed' | 'unsupported';

/** `not_ready`, `inactive`, `rejected` and `unsupported` promise that nothing was submitted. */
export type SteerResult =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'not_ready' | 'inactive' | 'rejected' | 'unsupported' }
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * `settled`: output closed and native events, input, interactions and child work are over. `reusable: false`
 * carries a reason and makes the Runtime close the Executor. `failed`: not settled; still owned, may be asked again.
 */
export type Settlement =
  | { readonly kind: 'settled'; readonly reusable: true }
  | { readonly kind: 'settled'; readonly reusable: false; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

export interface HarnessTurn {
  /** Requests the end of this Turn only, never of a successor. Idempotent; a rejection means it may be tried again. */
  cancel(): Promise<void>;
  /** Resolves when settled, or with `failed` when settlement cannot be proven. May be called again after `failed`. */
  settlement(): Promise<Settlement>;
  /** Snapshot, any time, without waiting. Absent evidence stays absent. */
  outcome(): DonePayload;
  /** Calls `onWritten` once after the complete native write, resolves after native consumption. */
  steer?(input: MessageInput, onWritten: () => void): Promise<SteerResult>;
  submitPermission?(key: string, answer: PermissionAnswer): Promise<SubmitResult>;
  submitChoice?(key: string, answer: ChoiceAnswer): Promise<SubmitResult>;
  submitFunctionResult?(
    callId: string,
    result: { readonly success: boolean; readonly content: readonly InputContent[] },
  ): Promise<SubmitResult>;
}

/**
 * The bounded way out (64 events). `emit` resolves when there is room again: await it to feel back-pressure. It
 * never drops or reorders. `close` once, after `done`.
 */
export interface TurnOutput {
  emit(event: HarnessEvent): Promise<void>;
  close(): void;
}
