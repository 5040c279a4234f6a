import type { ScriptFrame } from '../../../src/conformance/scenario.ts';

/** What the reference model keeps, and the answers it expects in the shape in which they are compared. */

/** The immediate answer: the frame's type, its id, and the members that tell answers apart. */
export interface Answer {
  readonly type: string;
  readonly id: string;
  readonly says: Readonly<Record<string, unknown>>;
}

export type Phase = 'preparing' | 'ready' | 'starting' | 'started' | 'released' | 'expired' | 'failed';

export interface Admission {
  readonly handle: string;
  readonly request: string;
  readonly print: string;
  readonly executor: ModelExecutor;
  readonly executorId: string;
  readonly deadline: number;
  phase: Phase;
  revision: number;
  run: string | null;
  startPrint: string | null;
  startPublished: boolean;
}

export interface ModelExecutor {
  readonly session: string;
  readonly print: string;
  /** As counted in the history; 0 until the Harness was called. */
  number: number;
  native: 'preparing' | 'up' | 'gone';
  /** It will not serve again: closing, or not proven closed. */
  invalid: boolean;
  admission: Admission | null;
  run: string | null;
  nativeId: string | null;
}

export interface ModelRun {
  readonly executor: ModelExecutor;
  readonly direct: boolean;
  published: boolean;
  gate: boolean;
  hasTurn: boolean;
  cancelled: boolean;
  readonly inputs: Map<string, { print: string; ack: Answer['says'] }>;
  /** The input whose delivery is not through. */
  busy: string | null;
}

export interface ModelPrompt {
  readonly run: string;
  readonly family: string;
  readonly asked: boolean;
  open: boolean;
}

export const open = (admission: Admission): boolean =>
  admission.phase === 'preparing' || admission.phase === 'ready';

export const limits = { active: 4, idle: 16, total: 20, lifetime: 300_000, inputs: 256 } as const;

export const isIdle = (executor: ModelExecutor): boolean =>
  executor.native === 'up' && !executor.invalid && executor.admission === null && executor.run === null;

/** What decides reuse among the configurations that a schedule sends. */
export const printOf = (configuration: Readonly<Record<string, unknown>>): string =>
  String(configuration['observe_messages'] === true);

export const rejected = (id: string, operation: string, code: string): Answer => ({
  type: 'preparation_status',
  id,
  says: { state: 'rejected', revision: 0, error_code: code, operation },
});

export const statusOf = (admission: Admission): Answer => ({
  type: 'preparation_status',
  id: admission.request,
  says: { handle: admission.handle, state: admission.phase, revision: admission.revision },
});

export const acknowledged = (id: string, says: Answer['says']): Answer => ({
  type: 'prompt_steer_ack',
  id,
  says,
});

export const receipt = (id: string, delivery: unknown, code: string | null): Answer => ({
  type: 'interaction_decision_ack',
  id,
  says: { delivery_id: delivery, applied: code === null, ...(code === null ? {} : { error_code: code }) },
});

export const suspension = (type: string, frame: ScriptFrame, code: string | null): Answer => ({
  type,
  id: frame.id,
  says: {
    suspend_id: frame.payload['suspend_id'],
    accepted: code === null,
    ...(code === null ? {} : { error_code: code }),
  },
});
