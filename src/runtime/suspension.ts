import { within, type Clock } from '../platform/clock.ts';
import { decodeFrame } from '../protocol/codec.ts';
import { CORRELATION_ID_BYTES } from '../protocol/limits.ts';
import { isBoundedId } from '../protocol/ids.ts';
import {
  suspendIdViolation,
  type EnvironmentQuiescePayload,
  type EnvironmentResumePayload,
  type SuspensionCode,
} from '../protocol/suspension.ts';
import { budgets } from './limits.ts';
import type { Binding, Sender } from './ports.ts';

/** One persisted suspension attempt, across connections. */
export interface SuspensionIdentity {
  readonly environmentId: string;
  readonly suspendId: string;
}

/** The last completed resume of a binding: a repeat of it is answered as accepted, also by a later router. */
export interface SuspensionMemory {
  resumed: SuspensionIdentity | null;
}

/** What the link does for a suspension. */
export interface SuspensionHooks {
  /** Everything is drained and told: close the socket and keep this router for the resume. */
  armed(identity: SuspensionIdentity): void;
  /** It could not be drained after admission closed: end the connection, so that nothing is refused silently. */
  failed(): void;
}

export interface SuspensionHost {
  readonly clock: Clock;
  readonly sender: Sender;
  readonly binding: Binding | null;
  readonly memory: SuspensionMemory;
  readonly hooks: SuspensionHooks;
  /** Anything that is active, owned, pending or uncertain. Idle Executors are not. */
  busy(): boolean;
  /** Closes the idle Executors; true when every one is proven gone. */
  closeIdle(): Promise<boolean>;
}

type State =
  | { readonly state: 'open' }
  /** Admission is closed and work drains. */
  | { readonly state: 'fenced'; readonly identity: SuspensionIdentity }
  | { readonly state: 'armed'; readonly identity: SuspensionIdentity };

/**
 * Suspension fencing (wire 14, runtime-behaviour 2.19). Quiesce is accepted only when nothing is owned but idle
 * Executors; only the exact identity opens admission again.
 */
export class Suspension {
  readonly #host: SuspensionHost;
  #state: State = { state: 'open' };

  constructor(host: SuspensionHost) {
    this.#host = host;
  }

  /** While true every frame but `device_shutdown` is refused without a reply. */
  get fenced(): boolean {
    return this.#state.state !== 'open';
  }

  quiesce(requestId: string, payload: EnvironmentQuiescePayload): void {
    const { binding } = this.#host;
    const identity = identityOf(payload);
    const refuse = (code: SuspensionCode): void =>
      void this.#reply('environment_quiesced', requestId, identity, code);
    // An id that cannot be echoed cannot be answered.
    if (!isBoundedId(requestId, CORRELATION_ID_BYTES)) return;
    if (suspendIdViolation(payload) || payload.environment_id !== binding?.environmentId) {
      return refuse('invalid_request');
    }
    if (this.#host.busy()) return refuse('resource_busy');
    this.#state = { state: 'fenced', identity };
    void this.#drain(requestId, identity);
  }

  /** `environment_resume` on a connection that is not suspended. */
  resume(requestId: string, payload: EnvironmentResumePayload): void {
    if (!isBoundedId(requestId, CORRELATION_ID_BYTES)) return;
    const identity = identityOf(payload);
    const ours = identity.environmentId === this.#host.binding?.environmentId;
    const known = ours && (payload.rollback === true || same(identity, this.#host.memory.resumed));
    void this.#reply('environment_resumed', requestId, identity, known ? null : 'not_suspended');
  }

  /**
   * The first message of the connection after a suspension. True when it was the matching resume: admission is open
   * again, whether or not its acknowledgement could be sent.
   */
  async resumeFirst(data: Uint8Array | string): Promise<boolean> {
    if (this.#state.state !== 'armed') return false;
    const decoded = decodeFrame(data, 'core-to-runtime');
    if (decoded.outcome !== 'frame' || decoded.frame.type !== 'environment_resume') return false;
    const identity = identityOf(decoded.frame.payload);
    if (!same(identity, this.#state.identity)) return false;
    this.#state = { state: 'open' };
    this.#host.memory.resumed = identity;
    await this.#reply('environment_resumed', decoded.frame.id, identity, null);
    return true;
  }

  async #drain(requestId: string, identity: SuspensionIdentity): Promise<void> {
    const { clock, hooks } = this.#host;
    const drained = await within(clock, budgets.quiesceDrain, this.#host.closeIdle());
    if (drained.kind === 'timeout' || !drained.value) {
      await this.#reply('environment_quiesced', requestId, identity, 'resource_busy');
      hooks.failed();
      return;
    }
    this.#state = { state: 'armed', identity };
    const sent = await this.#reply('environment_quiesced', requestId, identity, null);
    if (sent) hooks.armed(identity);
    else hooks.failed();
  }

  async #reply(
    type: 'environment_quiesced' | 'environment_resumed',
    requestId: string,
    identity: SuspensionIdentity,
    code: SuspensionCode | null,
  ): Promise<boolean> {
    const result = await this.#host.sender.send(
      {
        type,
        id: requestId,
        payload: {
          environment_id: identity.environmentId,
          suspend_id: identity.suspendId,
          accepted: code === null,
          ...(code === null ? {} : { error_code: code }),
        },
      },
      budgets.receiptSend,
    );
    return result === 'written';
  }
}

const identityOf = (payload: { environment_id: string; suspend_id: string }): SuspensionIdentity => ({
  environmentId: payload.environment_id,
  suspendId: payload.suspend_id,
});

const same = (a: SuspensionIdentity, b: SuspensionIdentity | null): boolean =>
  b !== null && a.environmentId === b.environmentId && a.suspendId === b.suspendId;
