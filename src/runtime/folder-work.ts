import { assertNever } from '../observe/errors.ts';
import type { Frame, Refusal } from '../protocol/codec.ts';
import type { Activity, Operation } from './exclusion.ts';
import type { DropReason } from './facts.ts';
import type { RuntimePorts, Sender } from './ports.ts';
import { ReadOnlyPreparations } from './read-only.ts';
import { RuntimePreparations } from './runtime-preparations.ts';
import { WorkspaceExports } from './workspace-exports.ts';
import { WorkspaceReads } from './workspace-reads.ts';
import { WorkspaceWrites } from './workspace-writes.ts';

export interface FolderHost {
  readonly ports: RuntimePorts;
  readonly sender: Sender;
  /** The first of what is there now that forbids the operation. */
  blockedBy(operation: Operation): Activity | null;
  /** Admissions of Executors, which count with the read-only ones. */
  otherRecords(): number;
  /** Whether an Executor's admission may be read through now. */
  readable(handle: string, environmentId: string): boolean;
  /** Whether a Run of this Environment may be read through now. */
  readableRun(runId: string, environmentId: string): boolean;
  drop(reason: DropReason): void;
  closed(): boolean;
}

type FolderFrame = Frame<'workspace_read' | 'workspace_write' | 'workspace_export' | 'runtime_prepare'>;

/** Everything of one connection that works in the bound folder without an Executor (runtime-behaviour 2.6, 2.20, 2.21). */
export class FolderWork {
  readonly readOnly: ReadOnlyPreparations;
  readonly #reads: WorkspaceReads;
  readonly #writes: WorkspaceWrites;
  readonly #exports: WorkspaceExports;
  readonly #preparations: RuntimePreparations;

  constructor(host: FolderHost) {
    const { ports, sender } = host;
    const shared = {
      ...{ ports, sender },
      drop: (reason: DropReason) => host.drop(reason),
      closed: () => host.closed(),
    };
    this.readOnly = new ReadOnlyPreparations({ ...shared, otherRecords: () => host.otherRecords() });
    this.#reads = new WorkspaceReads({
      ...shared,
      target: ({ environment_id: environmentId, handle = '', run_id: runId = '' }) => {
        if (environmentId !== ports.binding?.environmentId) return null;
        const fresh = { opened: null, done: () => undefined };
        if (runId !== '') return host.readableRun(runId, environmentId) ? fresh : null;
        const held = this.readOnly.use(handle, environmentId);
        return held ?? (host.readable(handle, environmentId) ? fresh : null);
      },
    });
    this.#writes = new WorkspaceWrites({ ...shared, blockedBy: () => host.blockedBy('write') });
    this.#exports = new WorkspaceExports({
      ...shared,
      blocked: () => host.blockedBy('export') !== null,
      target: (handle, environmentId) => this.readOnly.use(handle, environmentId),
    });
    this.#preparations = new RuntimePreparations({
      ...shared,
      blockedBy: () => host.blockedBy('runtime_prepare'),
    });
  }

  receive(frame: FolderFrame, trace: string | undefined): void {
    switch (frame.type) {
      case 'workspace_read':
        return this.#reads.receive(frame.id, frame.payload, trace);
      case 'workspace_write':
        return this.#writes.receive(frame.id, frame.payload, trace);
      case 'workspace_export':
        return this.#exports.receive(frame.id, frame.payload, trace);
      case 'runtime_prepare':
        return this.#preparations.receive(frame.id, frame.payload, trace);
      default:
        return assertNever(frame);
    }
  }

  /** A body that is no valid one of its type. False: it is none of these families that answer for themselves. */
  refuse({ type, id }: Refusal, trace: string | undefined): boolean {
    if (type === 'workspace_read') this.#reads.refuse(id, trace);
    else if (type === 'workspace_write') this.#writes.refuse(id, trace);
    else if (type === 'runtime_prepare') this.#preparations.refuse(id, trace);
    else return false;
    return true;
  }

  isPresent(activity: 'read' | 'write' | 'export' | 'runtime_prepare'): boolean {
    switch (activity) {
      case 'read':
        return this.#reads.active;
      case 'write':
        return this.#writes.active;
      case 'export':
        return this.#exports.active;
      case 'runtime_prepare':
        return this.#preparations.active;
      default:
        return assertNever(activity);
    }
  }

  /** Looks again for the end of what is shown as cleanup. Null: no such item here. */
  async retryCleanup(id: string): Promise<boolean | null> {
    const transfer = transferOf(id);
    if (transfer === null) return this.readOnly.retry(id);
    return (await this.#writes.settle(transfer)) ?? this.#preparations.settle(transfer);
  }

  /** A person stops a step of a preparation. False: none of that id is under way. */
  stopPreparation(id: string): boolean {
    return this.#preparations.stop(id);
  }

  /** A person records it as gone. False: no such item here. */
  forceCleanup(id: string): boolean {
    const transfer = transferOf(id);
    if (transfer === null) return this.readOnly.force(id);
    return this.#writes.force(transfer) || this.#preparations.force(transfer);
  }

  /** Reads, transfers and preparations end; returns what blocks. */
  async shutdown(): Promise<readonly string[]> {
    const [written, prepared, handles] = await Promise.all([
      this.#writes.shutdown(),
      this.#preparations.shutdown(),
      this.readOnly.shutdown(),
      this.#exports.shutdown(),
      this.#reads.over(),
    ]);
    const transfers = [written ? null : this.#writes.unknown, prepared ? null : this.#preparations.unknown];
    return [...handles, ...transfers.flatMap((id) => (id === null ? [] : [`transfer:${id}`]))];
  }
}

const transferOf = (id: string): string | null =>
  id.startsWith('transfer:') ? id.slice('transfer:'.length) : null;
