import type { HarnessAdapter, InteractionPolicy, Probe } from '../harness/adapter.ts';
import type { Logger } from '../observe/logger.ts';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import type { FramePayload, RuntimeFrameType } from '../protocol/registry.ts';
import type { WorkspaceService } from '../workspace/workspace-service.ts';
import type { FactListener } from './facts.ts';
import type { RuleBook } from './rule-book.ts';
import type { SuspensionHooks, SuspensionMemory } from './suspension.ts';

/**
 * `written`: the socket flushed it; the peer may not have read it. `failed`: the budget ran out or the connection is
 * gone, and it may still have left. `too_large`: nothing was sent, the frame is over 4 MiB.
 */
export type SendResult = 'written' | 'failed' | 'too_large';

/** A frame on its way to Core, before it is encoded. */
export type RuntimeFrame = {
  [T in RuntimeFrameType]: {
    readonly type: T;
    readonly id?: string | undefined;
    readonly payload: FramePayload<T>;
    readonly trace?: string | undefined;
  };
}[RuntimeFrameType];

/** The way to Core of one connection. The engine never sees the socket. */
export interface Sender {
  /** Receipts, statuses, terminal frames. Resolves when flushed or after `budgetMs` (null: the connection's life). */
  send(frame: RuntimeFrame, budgetMs: number | null): Promise<SendResult>;
  /** Streamed output: resolves as soon as the frame has its place in the order. */
  stream(frame: RuntimeFrame): Promise<'entered' | 'failed' | 'too_large'>;
  /** True while streamed output has to wait. */
  readonly backedUp: boolean;
}

export interface Binding {
  readonly environmentId: string;
  readonly sessionId: string;
  /** Real absolute path of the bound folder. */
  readonly workspace: string;
  /** The directory text recorded at enrolment; beside `/workspace` the only one a request may name. */
  readonly recordedDirectory: string;
}

export interface OfferedHarness {
  readonly adapter: HarnessAdapter;
  readonly probe: Probe;
}

export interface InteractionSettings {
  readonly policy: InteractionPolicy;
  readonly answeredBy: 'local' | 'core' | 'both';
  readonly timeoutMs: number | null;
}

export interface RuntimePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly binding: Binding | null;
  /** The Harness of a kind as composed for this binding, or null for an unknown kind. */
  harness(kind: string): OfferedHarness | null;
  /** A private folder for native state of one Session; created when missing. */
  stateDir(sessionId: string): Promise<string>;
  readonly interactions: InteractionSettings;
  /** What persons allowed beforehand, for all bindings; absent where nothing is kept beyond the connection. */
  readonly rules?: { readonly book: RuleBook; readonly owner: string };
  readonly executorIdleMs: number;
  /** True while a person paused this Runtime: new preparations are refused. */
  paused(): boolean;
  readonly facts: FactListener;
  /** The bound folder's own code; absent where no folder is served. It outlives a router. */
  readonly workspace?: WorkspaceService | null;
  /** What outlives a router of this binding. */
  readonly suspension: { readonly memory: SuspensionMemory; readonly hooks: SuspensionHooks };
}
