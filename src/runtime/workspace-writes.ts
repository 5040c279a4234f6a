import { WRITE_STAGING_MS } from '../protocol/limits.ts';
import type {
  WorkspaceWritePayload,
  WorkspaceWriteResultPayload,
  WriteRejectionCode,
} from '../protocol/workspace-write.ts';
import { asError } from '../observe/errors.ts';
import type { WriteOutcome } from '../workspace/write-file.ts';
import type { NewFile, WorkspaceService } from '../workspace/workspace-service.ts';
import type { Spool } from '../workspace/spool.ts';
import { BodyPlace } from './body-place.ts';
import { replyBudget, type Applied, type BodyRefusal } from './body-transfer.ts';
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
const noEvidence = 'It cannot be told whether the file is there.';

/** `workspace_write` (wire 12.3, runtime-behaviour 2.21): one at a time, never replacing anything. */
export class WorkspaceWrites {
  readonly #host: WriteHost;
  readonly #place: BodyPlace<Result, NewFile>;

  constructor(host: WriteHost) {
    this.#host = host;
    this.#place = new BodyPlace(host, 'write');
  }

  /** Also while one is left uncertain. */
  get active(): boolean {
    return this.#place.taken;
  }
  /** The id of a write whose outcome is unknown. */
  get unknown(): string | null {
    return this.#place.unknown;
  }

  receive(id: string, payload: WorkspaceWritePayload, trace: string | undefined): void {
    if (!this.#place.passes(id, payload)) return;
    const { workspace } = this.#host.ports;
    if (!workspace) return this.#answer(id, trace, rejected('write_unsupported'));
    if (payload.step === 'begin') return this.#begin(id, payload, workspace, trace);
    this.#answer(id, trace, rejected('resource_unavailable'));
  }

  /** A frame that is no valid one. One of the active transfer changes nothing and gets no reply. */
  refuse(id: string, trace: string | undefined): void {
    if (this.#place.passesInvalid(id, false)) this.#answer(id, trace, rejected('invalid_request'));
  }

  /** True when nothing is left: an open one was refused, one being applied ended, an unknown one was settled. */
  async shutdown(): Promise<boolean> {
    await this.#place.end(false);
    const { unknown } = this.#place;
    if (unknown !== null) await this.settle(unknown);
    return !this.#place.taken;
  }

  /** Looks for evidence of an unknown outcome. True: settled. Null: there is none under this id. */
  async settle(id: string): Promise<boolean | null> {
    const { workspace, logger } = this.#host.ports;
    if (!workspace) return null;
    const settled = await this.#place.settle(id, 'Looking whether the file is there.', async (file) => {
      const found = await this.#evidence(workspace, file);
      if (found === null) return noEvidence;
      logger.info('write.settled', { id, found });
      return null;
    });
    if (settled) await workspace.forget(id).catch(() => undefined);
    return settled;
  }

  /** A person decided. */
  force(id: string): boolean {
    if (!this.#place.force(id)) return false;
    void this.#host.ports.workspace?.forget(id).catch(() => undefined);
    return true;
  }

  #begin(
    id: string,
    payload: Extract<WorkspaceWritePayload, { step: 'begin' }>,
    workspace: WorkspaceService,
    trace: string | undefined,
  ): void {
    const reject = (code: WriteRejectionCode): void => this.#answer(id, trace, rejected(code));
    const blocked = this.#host.blockedBy();
    if (blocked === 'export' || blocked === 'runtime_prepare') return reject('resource_unavailable');
    if (this.#place.taken) return reject('write_capacity');
    const { binding } = this.#host.ports;
    const bound =
      payload.environment_id === binding?.environmentId && payload.session_id === binding.sessionId;
    if (!bound || blocked) return reject('resource_unavailable');
    const file: NewFile = { id, path: payload.path, size: payload.size_bytes, sha256: payload.sha256 };
    const send = (result: Result): Promise<SendResult> => this.#send(id, trace, result);
    const init = {
      id,
      size: file.size,
      sha256: file.sha256,
      createBody: () => workspace.spool(id),
      stagingMs: WRITE_STAGING_MS,
      budgetMs: null,
      ready: () => send({ outcome: 'ready' }),
      received: (offset: number) => send({ outcome: 'received', offset }),
      refused: (why: BodyRefusal) => rejected(refusalCode(why)),
      apply: (body: Spool | null) =>
        body ? this.#apply(workspace, file, body) : Promise.resolve<Applied<Result>>(unstored),
      tell: send,
    };
    this.#place.take(init, file);
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
        this.#place.report(file.id, 'unconfirmed', noEvidence);
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
