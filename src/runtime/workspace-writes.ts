import { isCanonicalUuid } from '../protocol/ids.ts';
import { WRITE_STAGING_MS } from '../protocol/limits.ts';
import type {
  WorkspaceWritePayload,
  WorkspaceWriteResultPayload,
  WriteRejectionCode,
} from '../protocol/workspace-write.ts';
import { asError } from '../observe/errors.ts';
import type { WriteOutcome } from '../workspace/write-file.ts';
import type { NewFile, WorkspaceService } from '../workspace/workspace-service.ts';
import { BodyTransfer, replyBudget, type Applied, type BodyRefusal } from './body-transfer.ts';
import type { Activity } from './exclusion.ts';
import type { DropReason } from './facts.ts';
import type { RuntimePorts, SendResult, Sender } from './ports.ts';

export interface WriteHost {
  readonly ports: RuntimePorts;
  readonly sender: Sender;
  /** What forbids a write to begin, another write aside. */
  blockedBy(): Activity | null;
  drop(reason: DropReason): void;
  closed(): boolean;
}

type Result = WorkspaceWriteResultPayload;
const rejected = (code: WriteRejectionCode): Result => ({ outcome: 'rejected', error_code: code });

/** `workspace_write` (wire 12.3, runtime-behaviour 2.21): one at a time, never replacing anything. */
export class WorkspaceWrites {
  readonly #host: WriteHost;
  #active: { transfer: BodyTransfer<Result>; file: NewFile; attempts: number } | null = null;

  constructor(host: WriteHost) {
    this.#host = host;
  }

  /** Also while one is left uncertain. */
  get active(): boolean {
    return this.#active !== null;
  }

  receive(id: string, payload: WorkspaceWritePayload, trace: string | undefined): void {
    if (!isCanonicalUuid(id)) return this.#host.drop('invalid_transfer_id');
    const { workspace } = this.#host.ports;
    if (!workspace) return this.#answer(id, trace, rejected('write_unsupported'));
    if (payload.step === 'begin') return this.#begin(id, payload, workspace, trace);
    const transfer = this.#active?.transfer;
    if (transfer?.id !== id) return this.#answer(id, trace, rejected('resource_unavailable'));
    if (transfer.state !== 'receiving') return this.#host.drop('body_closed');
    if (payload.step === 'chunk') transfer.chunk(payload.offset, payload.data);
    else transfer.commit();
  }

  /** A frame that is no valid one. One of the active transfer changes nothing and gets no reply. */
  refuse(id: string, trace: string | undefined): void {
    if (!isCanonicalUuid(id)) return this.#host.drop('invalid_transfer_id');
    if (this.#active?.transfer.id === id) return this.#host.drop('invalid_payload');
    this.#answer(id, trace, rejected('invalid_request'));
  }

  /** True when nothing is left: an open one was refused, one being applied ended, an unknown one was settled. */
  async shutdown(): Promise<boolean> {
    this.#active?.transfer.refuse('shutdown');
    await this.#active?.transfer.over();
    if (this.#active) await this.settle(this.#active.transfer.id);
    return this.#active === null;
  }

  /** The id of a write whose outcome is unknown. */
  get unknown(): string | null {
    return this.#active?.transfer.state === 'unknown' ? this.#active.transfer.id : null;
  }

  /** Looks for evidence of an unknown outcome. True: settled. Null: there is none under this id. */
  async settle(id: string): Promise<boolean | null> {
    const active = this.#active;
    const { workspace } = this.#host.ports;
    if (active?.transfer.id !== id || active.transfer.state !== 'unknown' || !workspace) return null;
    active.attempts++;
    this.#report(id, 'retrying', 'Looking whether the file is there.');
    const found = await this.#evidence(workspace, active.file);
    if (found === null) {
      this.#report(id, 'unconfirmed', 'It cannot be told whether the file is there.');
      return false;
    }
    this.#host.ports.logger.info('write.settled', { id, found });
    await this.#forget(id, 'confirmed');
    return true;
  }

  /** A person decided. */
  force(id: string): boolean {
    if (this.unknown !== id) return false;
    this.#host.ports.logger.warn('write.forced', { id });
    void this.#forget(id, 'forced');
    return true;
  }

  #begin(
    id: string,
    payload: Extract<WorkspaceWritePayload, { step: 'begin' }>,
    workspace: WorkspaceService,
    trace: string | undefined,
  ): void {
    const reject = (code: WriteRejectionCode): void => this.#answer(id, trace, rejected(code));
    if (this.#active?.transfer.id === id) return this.#host.drop('repeated_begin');
    const blocked = this.#host.blockedBy();
    if (blocked === 'export' || blocked === 'runtime_prepare') return reject('resource_unavailable');
    if (this.#active) return reject('write_capacity');
    const { binding } = this.#host.ports;
    const bound =
      payload.environment_id === binding?.environmentId && payload.session_id === binding.sessionId;
    if (!bound || blocked) return reject('resource_unavailable');
    const file: NewFile = { id, path: payload.path, size: payload.size_bytes, sha256: payload.sha256 };
    const send = (result: Result): Promise<SendResult> => this.#send(id, trace, result);
    this.#active = {
      file,
      attempts: 0,
      transfer: new BodyTransfer<Result>({
        ports: this.#host.ports,
        kind: 'write',
        id,
        size: file.size,
        sha256: file.sha256,
        createBody: () => workspace.spool(id),
        stagingMs: WRITE_STAGING_MS,
        budgetMs: null,
        ready: () => send({ outcome: 'ready' }),
        received: (offset) => send({ outcome: 'received', offset }),
        refused: (why) => rejected(refusalCode(why)),
        apply: (body) => (body ? this.#apply(workspace, file, body) : Promise.resolve(unstored)),
        tell: send,
        onEnd: () => (this.#active = null),
      }),
    };
  }

  async #apply(
    workspace: WorkspaceService,
    file: NewFile,
    body: Parameters<WorkspaceService['create']>[1],
  ): Promise<Applied<Result>> {
    const { logger } = this.#host.ports;
    const outcome = await workspace
      .create(file, body)
      .catch((error: unknown): WriteOutcome => ({ kind: 'unknown', why: asError(error).name }));
    switch (outcome.kind) {
      case 'written':
        logger.info('write.completed', { id: file.id, bytes: file.size, leftover: outcome.leftover });
        return { kind: 'settled', result: { outcome: 'completed', size_bytes: file.size } };
      case 'rejected':
        logger.warn('write.rejected', { id: file.id, why: outcome.code, leftover: outcome.leftover });
        return { kind: 'settled', result: rejection(outcome.code) };
      case 'unknown': {
        logger.warn('write.unknown', { id: file.id, why: outcome.why });
        const found = await this.#evidence(workspace, file);
        if (found) await workspace.forget(file.id);
        if (found === 'present')
          return { kind: 'settled', result: { outcome: 'completed', size_bytes: file.size } };
        if (found === 'absent') return { kind: 'settled', result: rejected('write_rejected') };
        this.#report(file.id, 'unconfirmed', 'It cannot be told whether the file is there.');
        return { kind: 'unknown', result: { outcome: 'unknown', error_code: 'write_unconfirmed' } };
      }
    }
  }

  /** `present`: exactly this content is at its place. `absent`: nothing is. Null: no proof either way. */
  async #evidence(workspace: WorkspaceService, file: NewFile): Promise<'present' | 'absent' | null> {
    try {
      const found = await workspace.inspect(file);
      return found === 'other' ? null : found;
    } catch {
      return null;
    }
  }

  async #forget(id: string, how: 'confirmed' | 'forced'): Promise<void> {
    const { ports } = this.#host;
    this.#active?.transfer.settled();
    ports.facts({ type: 'cleanup_ended', id: `transfer:${id}`, how });
    await ports.workspace?.forget(id).catch(() => undefined);
  }

  #report(id: string, state: 'unconfirmed' | 'retrying', reason: string): void {
    this.#host.ports.facts({
      type: 'cleanup',
      id: `transfer:${id}`,
      kind: 'transfer',
      sessionId: this.#host.ports.binding?.sessionId ?? '',
      runId: null,
      state,
      attempts: this.#active?.attempts ?? 0,
      reason,
    });
  }

  #answer(id: string, trace: string | undefined, result: Result): void {
    void this.#send(id, trace, result);
  }
  #send(id: string, trace: string | undefined, payload: Result): Promise<SendResult> {
    if (this.#host.closed()) return Promise.resolve('failed');
    return this.#host.sender.send({ type: 'workspace_write_result', id, payload, trace }, replyBudget);
  }
}

const unstored: Applied<Result> = { kind: 'settled', result: rejected('write_rejected') };

const refusalCode = (why: BodyRefusal): WriteRejectionCode =>
  why === 'storage' ? 'write_rejected' : 'invalid_request';

function rejection(code: Extract<WriteOutcome, { kind: 'rejected' }>['code']): Result {
  switch (code) {
    case 'is_directory':
      return { ...rejected('write_rejected'), reason: 'destination_directory' };
    case 'exists':
    case 'unsafe':
    case 'not_directory':
      return { ...rejected('write_rejected'), reason: 'unsafe_destination' };
    case 'root_unavailable':
      return rejected('resource_unavailable');
    default:
      return rejected('write_rejected');
  }
}
