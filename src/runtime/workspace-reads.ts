import { CORRELATION_ID_BYTES, PENDING_READS, READ_MS } from '../protocol/limits.ts';
import { isBlank } from '../protocol/ids.ts';
import { utf8Length } from '../protocol/utf8.ts';
import {
  readResultViolation,
  type ReadRejectionCode,
  type WorkspaceReadPayload,
  type WorkspaceReadResultPayload,
} from '../protocol/workspace-read.ts';
import { asError } from '../observe/errors.ts';
import { within } from '../platform/clock.ts';
import type { OpenedWorkspace, WorkspaceService } from '../workspace/workspace-service.ts';
import { WorkspaceError } from '../workspace/workspace-error.ts';
import { replyBudget } from './body-transfer.ts';
import type { DropReason } from './facts.ts';
import type { RuntimePorts, Sender } from './ports.ts';

/** Where a read may look: the folder a read-only preparation holds, or one opened for this read alone. */
export interface ReadTarget {
  readonly opened: OpenedWorkspace | null;
  /** Called once when the read is over; `stuck` when what it opened is not proven closed. */
  done(stuck: boolean): void;
}

export interface ReadHost {
  readonly ports: RuntimePorts;
  readonly sender: Sender;
  /** The target a request names, if it may be read now. Takes it until `done`. */
  target(payload: WorkspaceReadPayload): ReadTarget | null;
  drop(reason: DropReason): void;
  closed(): boolean;
}

type Result = WorkspaceReadResultPayload;
const rejected = (code: ReadRejectionCode): Result => ({ outcome: 'rejected', error_code: code });
const unconfirmed: Result = { outcome: 'unknown', error_code: 'read_unconfirmed' };

/**
 * `workspace_read` (wire 12.1, 12.2, runtime-behaviour 2.21). An admitted read keeps its place until its result was
 * sent, whatever becomes of its target; after 12 s it is unconfirmed, and no other is started until its handles are
 * proven closed.
 */
export class WorkspaceReads {
  readonly #host: ReadHost;
  readonly #pending = new Map<string, Promise<void>>();

  constructor(host: ReadHost) {
    this.#host = host;
  }

  get active(): boolean {
    return this.#pending.size > 0;
  }

  receive(id: string, payload: WorkspaceReadPayload, trace: string | undefined): void {
    const reject = (code: ReadRejectionCode): void => void this.#send(id, trace, rejected(code));
    if (utf8Length(id) > CORRELATION_ID_BYTES) return this.#host.drop('oversized_id');
    if (isBlank(id)) return reject('invalid_request');
    const { workspace } = this.#host.ports;
    if (!workspace) return reject('read_unsupported');
    if (this.#pending.has(id)) return this.#host.drop('repeated_read');
    if (this.#pending.size >= PENDING_READS) return reject('read_capacity');
    if (workspace.latch.uncertain) return reject('resource_unavailable');
    const target = this.#host.target(payload);
    if (!target) return reject('resource_unavailable');
    const kind = 'read';
    this.#host.ports.facts({ type: 'transfer', kind, id, state: 'sending', bytes: 0, total: null });
    const served = this.#serve(workspace, target, payload)
      .then((result) => this.#send(id, trace, result))
      .then(() => {
        this.#pending.delete(id);
        this.#host.ports.facts({ type: 'transfer_ended', kind, id });
      });
    this.#pending.set(id, served);
  }

  /** A body that is no valid one. A pending read keeps its only answer. */
  refuse(id: string, trace: string | undefined): void {
    if (utf8Length(id) > CORRELATION_ID_BYTES) return this.#host.drop('oversized_id');
    if (this.#pending.has(id)) return this.#host.drop('repeated_read');
    void this.#send(id, trace, rejected('invalid_request'));
  }

  /** Resolves when every result was sent or could not be. */
  async over(): Promise<void> {
    await Promise.all(this.#pending.values());
  }

  async #serve(
    workspace: WorkspaceService,
    target: ReadTarget,
    payload: WorkspaceReadPayload,
  ): Promise<Result> {
    const { clock, logger } = this.#host.ports;
    const abort = new AbortController();
    const work = perform(workspace, target.opened, payload, abort.signal);
    const waited = await within(clock, READ_MS, work);
    if (waited.kind === 'timeout') {
      abort.abort();
      logger.warn('read.unconfirmed', { why: 'time' });
      const release = workspace.latch.hold();
      target.done(true);
      // A late end is evidence, as long as it says that everything is closed.
      void work.then(({ closed }) => closed && release());
      return unconfirmed;
    }
    const { result, closed, why } = waited.value;
    if (why !== null) logger.warn('read.refused', { why });
    if (!closed) workspace.latch.hold();
    target.done(!closed);
    return readResultViolation(payload, result) ? unconfirmed : result;
  }

  async #send(id: string, trace: string | undefined, payload: Result): Promise<void> {
    if (this.#host.closed()) return;
    await this.#host.sender.send({ type: 'workspace_read_result', id, payload, trace }, replyBudget);
  }
}

interface Performed {
  readonly result: Result;
  /** Everything it opened is proven closed. */
  readonly closed: boolean;
  /** For the log. */
  readonly why: string | null;
}

/** Never rejects. */
async function perform(
  workspace: WorkspaceService,
  given: OpenedWorkspace | null,
  payload: WorkspaceReadPayload,
  signal: AbortSignal,
): Promise<Performed> {
  let own: OpenedWorkspace | null = null;
  let performed: Performed;
  try {
    if (!given) own = await workspace.open();
    performed = { result: await read(given ?? own, payload, signal), closed: true, why: null };
  } catch (error) {
    performed = failed(error, payload.operation === 'directory');
  }
  if (!own || (await own.close()).state === 'closed') return performed;
  return { result: unconfirmed, closed: false, why: 'unclosed' };
}

async function read(
  opened: OpenedWorkspace | null,
  payload: WorkspaceReadPayload,
  signal: AbortSignal,
): Promise<Result> {
  if (!opened) return rejected('resource_unavailable');
  if (payload.operation === 'directory') {
    const directory = await opened.list(payload.path, payload.max_entries ?? 0, signal);
    return { outcome: 'completed', close_acknowledged: true, directory };
  }
  const { data, truncated } = await opened.read(payload.path, payload.max_bytes, signal);
  return {
    outcome: 'completed',
    close_acknowledged: true,
    ...(data.length > 0 ? { data: data.toString('base64') } : {}),
    ...(truncated ? { truncated } : {}),
  };
}

function failed(error: unknown, directory: boolean): Performed {
  if (!(error instanceof WorkspaceError)) {
    return { result: unconfirmed, closed: true, why: asError(error).name };
  }
  const closed = error.code !== 'unclosed';
  const reject = (code: ReadRejectionCode): Performed => ({
    result: rejected(code),
    closed,
    why: error.code,
  });
  switch (error.code) {
    case 'not_found':
      return reject(directory ? 'not_directory' : 'not_found');
    case 'not_directory':
      // Nothing can lie below a file, and a link is not followed: for a byte read there is no such file.
      return reject(directory ? 'not_directory' : 'not_found');
    case 'permission_denied':
      return reject('permission_denied');
    case 'invalid':
      return reject('invalid_request');
    case 'unsafe':
    case 'root_unavailable':
      return reject('resource_unavailable');
    default:
      return { result: unconfirmed, closed, why: error.code };
  }
}
