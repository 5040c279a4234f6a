import type { HarnessEvent, NativeChoice, NativePermission } from '../harness/adapter.ts';
import type { MessageInput } from '../protocol/message-input.ts';
import type { UsagePayload } from '../protocol/run-output.ts';
import type { DecidedBy, InteractionEnd } from './interaction-state.ts';

/**
 * What the engine observed, in order, for whoever projects it (the view, the journal, the audit history). The engine
 * never reads anything back from there.
 */
export type RuntimeFact =
  | {
      readonly type: 'turn_started';
      readonly runId: string;
      readonly sessionId: string;
      readonly harness: string;
      readonly input: MessageInput;
      readonly canSteer: boolean;
    }
  | {
      readonly type: 'turn_state';
      readonly runId: string;
      readonly state: 'running' | 'cancelling' | 'settling';
    }
  | {
      readonly type: 'evidence';
      readonly runId: string;
      readonly fact: EvidenceFact;
      readonly by: 'runtime' | 'harness' | 'core' | 'person';
      readonly detail: string | null;
    }
  | { readonly type: 'output'; readonly runId: string; readonly event: HarnessEvent }
  | { readonly type: 'input'; readonly runId: string; readonly inputId: string; readonly input: MessageInput }
  | {
      readonly type: 'input_state';
      readonly runId: string;
      readonly inputId: string;
      readonly state: 'written' | 'accepted' | 'rejected' | 'unknown';
      readonly detail: string | null;
    }
  | {
      readonly type: 'turn_ended';
      readonly runId: string;
      readonly outcome: 'completed' | 'failed' | 'cancelled' | 'unknown';
      readonly code: string | null;
      readonly detail: string | null;
      readonly usage: UsagePayload | null;
    }
  | {
      readonly type: 'interaction_opened';
      readonly id: string;
      readonly runId: string;
      readonly request: InteractionRequest;
      readonly expiresInMs: number | null;
      readonly answerable: boolean;
    }
  | { readonly type: 'interaction_state'; readonly id: string; readonly state: 'pending' | 'deciding' }
  | {
      readonly type: 'interaction_ended';
      readonly id: string;
      readonly runId: string;
      readonly kind: 'permission' | 'user_choice';
      readonly title: string;
      readonly end: InteractionEnd;
      readonly by: DecidedBy | null;
      readonly detail: string | null;
    }
  | {
      readonly type: 'cleanup';
      readonly id: string;
      readonly kind: 'executor' | 'turn' | 'transfer' | 'file';
      readonly sessionId: string;
      readonly runId: string | null;
      readonly state: 'closing' | 'unconfirmed' | 'retrying';
      readonly attempts: number;
      readonly reason: string;
    }
  | { readonly type: 'cleanup_ended'; readonly id: string; readonly how: 'confirmed' | 'forced' }
  /** Something moves between the bound folder and Core, or waits to be settled. */
  | {
      readonly type: 'transfer';
      readonly kind: TransferKind;
      readonly id: string;
      /** What a preparation does: its action, never a name or a command. */
      readonly step?: string;
      readonly state: 'receiving' | 'applying' | 'sending' | 'unknown';
      readonly bytes: number;
      readonly total: number | null;
    }
  | { readonly type: 'transfer_ended'; readonly kind: TransferKind; readonly id: string }
  /** An agent was started, or was not (`why`, for a person); before any input. */
  | { readonly type: 'agent_started'; readonly kind: string; readonly why: string | null }
  /** A frame that got no answer, and why (runtime-behaviour 2.23). */
  | { readonly type: 'dropped'; readonly reason: DropReason };

export type TransferKind = 'read' | 'write' | 'export' | 'prepare';

export type InteractionRequest =
  | { readonly kind: 'permission'; readonly native: NativePermission }
  | { readonly kind: 'user_choice'; readonly native: NativeChoice };

export type EvidenceFact =
  | 'prepared'
  | 'started'
  | 'input_written'
  | 'input_accepted'
  | 'decision_applied'
  | 'cancel_requested'
  | 'settled'
  | 'done_sent'
  | 'unobserved'
  | 'not_enforced';

export type DropReason =
  | 'invalid_json'
  | 'unknown_type'
  | 'invalid_payload'
  | 'router_closed'
  | 'quiesced'
  | 'duplicate_run'
  | 'duplicate_start'
  | 'cancel_without_delivery'
  | 'missing_id'
  | 'late_output'
  | 'teardown_prompt'
  | 'repeated_begin'
  | 'repeated_read'
  | 'oversized_id'
  | 'invalid_transfer_id'
  | 'body_closed'
  | 'overtaken_export';

export type FactListener = (fact: RuntimeFact) => void;
