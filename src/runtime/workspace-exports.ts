import { CORRELATION_ID_BYTES, EXPORT_MS } from '../protocol/limits.ts';
import { isBoundedId } from '../protocol/ids.ts';
import type { WorkspaceExportPayload, WorkspaceExportResultPayload } from '../protocol/workspace-export.ts';
import { asError } from '../observe/errors.ts';
import type { Timer } from '../platform/clock.ts';
import { ExportError, type ExportStream } from '../workspace/export-outputs.ts';
import type { OpenedWorkspace } from '../workspace/workspace-service.ts';
import { replyBudget } from './body-transfer.ts';
import type { DropReason } from './facts.ts';
import type { RuntimePorts, Sender } from './ports.ts';

export interface ExportHost {
  readonly ports: RuntimePorts;
  readonly sender: Sender;
  /** Whether another activity forbids it. */
  blocked(): boolean;
  /** The ready read-only preparation of that Environment, taken until `done`. */
  target(
    handle: string,
    environmentId: string,
  ): { opened: OpenedWorkspace; done: (stuck: boolean) => void } | null;
  drop(reason: DropReason): void;
  closed(): boolean;
}

type Result = WorkspaceExportResultPayload;
type Piece = { readonly data: Buffer | null } | { readonly failed: unknown };

interface Export {
  readonly id: string;
  readonly trace: string | undefined;
  readonly stream: ExportStream;
  readonly timer: Timer;
  readonly done: (stuck: boolean) => void;
  /** One piece ahead of what was asked for, and no more. */
  ahead: Promise<Piece>;
  offset: number;
  /** A request waits for its answer. */
  pending: boolean;
  over: Promise<void> | null;
}

const unavailable: Result = { outcome: 'rejected', offset: 0, error_code: 'resource_unavailable' };

/**
 * `workspace_export` (wire 12.4, runtime-behaviour 2.21): one at a time, and no chunk that was not asked for. It is
 * complete with `completed` alone, which is sent after everything was closed and the place is free.
 */
export class WorkspaceExports {
  readonly #host: ExportHost;
  #active: Export | null = null;

  constructor(host: ExportHost) {
    this.#host = host;
  }

  get active(): boolean {
    return this.#active !== null;
  }

  receive(id: string, payload: WorkspaceExportPayload, trace: string | undefined): void {
    if (!isBoundedId(id, CORRELATION_ID_BYTES)) return this.#host.drop('oversized_id');
    const active = this.#active?.id === id && !this.#active.over ? this.#active : null;
    if (payload.step === 'cancel') {
      if (active) void this.#end(active, null);
      return;
    }
    if (active?.pending) {
      this.#host.drop('overtaken_export');
      void this.#end(active, null);
      return;
    }
    if (payload.step === 'begin') return this.#begin(id, payload, trace);
    if (!active) return void this.#send(id, trace, unavailable);
    if (payload.offset !== active.offset) {
      void this.#end(active, { outcome: 'failed', offset: active.offset, error_code: 'invalid_request' });
      return;
    }
    void this.#answer(active);
  }

  /** Ends what is open; resolves when it is closed. */
  async shutdown(): Promise<void> {
    if (this.#active) await this.#end(this.#active, null);
  }

  #begin(
    id: string,
    { handle, environment_id }: { handle: string; environment_id: string },
    trace: string | undefined,
  ): void {
    const { clock, facts } = this.#host.ports;
    const target = this.#host.blocked() ? null : this.#host.target(handle, environment_id);
    if (!target) return void this.#send(id, trace, unavailable);
    const stream = target.opened.export();
    const active: Export = {
      id,
      trace,
      stream,
      done: target.done,
      timer: clock.after(EXPORT_MS, () => void this.#expire(active), { background: true }),
      ahead: pull(stream),
      offset: 0,
      pending: false,
      over: null,
    };
    this.#active = active;
    facts({ type: 'transfer', kind: 'export', id, state: 'sending', bytes: 0, total: null });
    void this.#answer(active);
  }

  async #answer(active: Export): Promise<void> {
    active.pending = true;
    const piece = await active.ahead;
    if (active.over) return;
    const { offset } = active;
    if ('failed' in piece) {
      if (piece.failed instanceof ExportError && piece.failed.code === 'unclosed') {
        this.#host.ports.workspace?.latch.hold();
      }
      this.#note(active, piece.failed);
      return this.#end(active, { outcome: 'failed', offset, error_code: 'export_failed' });
    }
    if (piece.data === null) return this.#end(active, { outcome: 'completed', offset });
    const data = piece.data.toString('base64');
    active.offset += piece.data.length;
    active.ahead = pull(active.stream);
    // The next request may come before this resolves.
    active.pending = false;
    const { facts } = this.#host.ports;
    facts({
      type: 'transfer',
      kind: 'export',
      id: active.id,
      state: 'sending',
      bytes: active.offset,
      total: null,
    });
    const sent = await this.#send(active.id, active.trace, { outcome: 'chunk', offset, data });
    if (!sent && !active.over) await this.#end(active, null);
  }

  #expire(active: Export): Promise<void> {
    this.#host.ports.logger.warn('export.failed', { id: active.id, why: 'time' });
    const { offset } = active;
    const failed: Result = { outcome: 'failed', offset, error_code: 'export_failed' };
    return this.#end(active, active.pending ? failed : null);
  }

  /** Closes the producer, frees the place, and then tells. */
  #end(active: Export, result: Result | null): Promise<void> {
    active.over ??= this.#close(active, result);
    return active.over;
  }

  async #close(active: Export, result: Result | null): Promise<void> {
    active.timer.cancel();
    let stuck = false;
    try {
      await active.stream.close();
      await active.ahead;
    } catch (error) {
      stuck = true;
      this.#host.ports.logger.warn('export.unclosed', { id: active.id, error: asError(error).name });
      this.#host.ports.workspace?.latch.hold();
    }
    active.done(stuck);
    this.#active = null;
    this.#host.ports.facts({ type: 'transfer_ended', kind: 'export', id: active.id });
    if (result) await this.#send(active.id, active.trace, result);
  }

  /** Which file it was stays on this machine. */
  #note(active: Export, error: unknown): void {
    const known = error instanceof ExportError;
    this.#host.ports.logger.warn('export.failed', {
      id: active.id,
      why: known ? error.code : asError(error).name,
      ...(known ? { path: error.path, detail: error.message } : {}),
    });
  }

  async #send(id: string, trace: string | undefined, payload: Result): Promise<boolean> {
    if (this.#host.closed()) return false;
    const frame = { type: 'workspace_export_result', id, payload, trace } as const;
    return (await this.#host.sender.send(frame, replyBudget)) === 'written';
  }
}

const pull = (stream: ExportStream): Promise<Piece> =>
  stream.next().then(
    (data): Piece => ({ data }),
    (failed: unknown): Piece => ({ failed }),
  );
