import { join } from 'node:path';
import type { RuntimePrepareBegin } from '../protocol/initialization.ts';
import type { Logger } from '../observe/logger.ts';
import { asError } from '../observe/errors.ts';
import { closed, unconfirmed, type CloseResult } from '../ownership/owned.ts';
import { exportOutputs, ExportStream } from './export-outputs.ts';
import { inspectFile, type Inspection } from './inspect-file.ts';
import { listFolder } from './list-folder.ts';
import { componentsOf, type Name } from './names.ts';
import { readFileBytes } from './read-file.ts';
import { ReadLatch } from './read-latch.ts';
import { Folder } from './safe-path.ts';
import { Spool } from './spool.ts';
import { WorkspaceError } from './workspace-error.ts';
import type {
  NewFile,
  OpenedWorkspace,
  PreparedCapabilities,
  PrepareResult,
  WorkspaceService,
} from './workspace-service.ts';
import { writeFile, type WriteOutcome, type WriteRequest } from './write-file.ts';
import { WriteJournal } from './write-journal.ts';

/** The steps of initialization, as this machine does them. */
export interface PreparationSteps {
  refusal(): Promise<string | null>;
  run(
    id: string,
    begin: RuntimePrepareBegin,
    body: Spool | null,
    signal: AbortSignal,
  ): Promise<PrepareResult>;
  settle(id: string): Promise<CloseResult>;
  /** @throws WorkspaceError */
  prepared(wanted: PreparedQuery): Promise<PreparedCapabilities>;
  completed(): Promise<void>;
}

export type PreparedQuery = Parameters<WorkspaceService['prepared']>[0];

export interface LocalWorkspaceOptions {
  /** Real path of the bound folder. */
  readonly root: string;
  /** A private folder of this binding, outside the bound one. */
  readonly stateDir: string;
  readonly logger: Logger;
  readonly platform?: NodeJS.Platform;
  /** Null: initialization is not served. Gets the way to write a file, which shares the one writer. */
  createSteps: ((files: FileWriter) => PreparationSteps) | null;
}

/**
 * What an Environment without initialization gives an execution: nothing, to one that asks for nothing.
 * @throws WorkspaceError `invalid`.
 */
export function nothingPrepared({ sources, variables }: PreparedQuery): PreparedCapabilities {
  const { skills = [], plugins = [], directories = [] } = sources;
  if (variables || skills.length + plugins.length + directories.length > 0) {
    throw new WorkspaceError('invalid', 'nothing was prepared for this Environment');
  }
  return { variables: {}, skills: [], servers: [] };
}

/** Writes a file of the bound folder, replacing a regular one. */
export type FileWriter = (id: string, path: string, body: Spool) => Promise<WriteOutcome>;

/** The bound folder of one Environment, served by our own code alone (runtime-behaviour 4). */
export class LocalWorkspace implements WorkspaceService {
  readonly latch = new ReadLatch();
  readonly #options: LocalWorkspaceOptions;
  readonly #platform: NodeJS.Platform;
  readonly #transfers: string;
  readonly #journal: WriteJournal;
  readonly #steps: PreparationSteps | null;
  /** One writer at a time, also across connections. */
  #writing: Promise<unknown> = Promise.resolve();
  #swept: Promise<void> | null = null;

  constructor(options: LocalWorkspaceOptions) {
    this.#options = options;
    this.#platform = options.platform ?? process.platform;
    this.#transfers = join(options.stateDir, 'transfers');
    this.#journal = new WriteJournal(this.#transfers);
    this.#steps = options.createSteps?.((id, path, body) => this.#write(id, path, body, 'replace')) ?? null;
  }

  /** Removes what an earlier run left: bodies, temporary names, parents of writes that never happened. Once. */
  sweep(): Promise<void> {
    this.#swept ??= this.#sweep();
    return this.#swept;
  }

  async open(): Promise<OpenedWorkspace> {
    await this.sweep();
    const root = await Folder.openRoot(this.#options.root);
    return {
      read: (path, maxBytes, signal) => readFileBytes(root, path, maxBytes, signal, this.#platform),
      list: (path, maxEntries, signal) => listFolder(root, path, maxEntries, signal, this.#platform),
      export: () => new ExportStream((signal) => exportOutputs(root, signal)),
      close: () =>
        root.close().then(
          () => closed,
          () => unconfirmed('the folder could not be closed'),
        ),
    };
  }

  async spool(id: string): Promise<Spool> {
    await this.sweep();
    return Spool.create(this.#transfers, id);
  }

  create(file: NewFile, body: Spool): Promise<WriteOutcome> {
    return this.#write(file.id, file.path, body, 'create');
  }

  async inspect(file: NewFile): Promise<Inspection> {
    const { folders, target } = this.#place(file.path);
    return this.#withRoot((root) => inspectFile(root, folders, target, file.size, file.sha256));
  }

  async forget(id: string): Promise<void> {
    await this.#withRoot((root) => this.#journal.sweepOne(root, id));
  }

  async refusePreparation(): Promise<string | null> {
    return this.#steps ? this.#steps.refusal() : 'not served';
  }

  async prepare(
    id: string,
    begin: RuntimePrepareBegin,
    body: Spool | null,
    signal: AbortSignal,
  ): Promise<PrepareResult> {
    await this.sweep();
    const why = await this.refusePreparation();
    if (why !== null || !this.#steps) return { kind: 'rejected', why: why ?? 'not served' };
    return this.#steps.run(id, begin, body, signal);
  }

  async settlePreparation(id: string): Promise<CloseResult> {
    return this.#steps ? this.#steps.settle(id) : closed;
  }

  async prepared(wanted: PreparedQuery): Promise<PreparedCapabilities> {
    if (this.#steps) return this.#steps.prepared(wanted);
    return nothingPrepared(wanted);
  }

  async completed(): Promise<void> {
    await this.#steps?.completed().catch((error: unknown) => {
      this.#options.logger.warn('workspace.not_completed', { error: asError(error).name });
    });
  }

  #write(id: string, path: string, body: Spool, how: WriteRequest['how']): Promise<WriteOutcome> {
    const write = this.#writing.then(async (): Promise<WriteOutcome> => {
      try {
        const { folders, target } = this.#place(path);
        return await this.#withRoot((root) =>
          writeFile(root, this.#journal, { id, folders, target, body, how }),
        );
      } catch (error) {
        const code = error instanceof WorkspaceError ? error.code : 'uncertain';
        // Opening the root and reading the path are before anything is touched; closing it is after.
        if (code === 'unclosed' || code === 'uncertain') return { kind: 'unknown', why: asError(error).name };
        return { kind: 'rejected', code, leftover: false };
      }
    });
    this.#writing = write.catch(() => undefined);
    return write;
  }

  #place(path: string): { folders: Name[]; target: Name } {
    const folders = componentsOf(path, this.#platform);
    const target = folders.pop();
    if (!target) throw new WorkspaceError('invalid', 'the root is no file');
    return { folders, target };
  }

  async #withRoot<T>(use: (root: Folder) => Promise<T>): Promise<T> {
    const root = await Folder.openRoot(this.#options.root);
    try {
      return await use(root);
    } finally {
      await root.close();
    }
  }

  async #sweep(): Promise<void> {
    const { logger } = this.#options;
    const bodies = await Spool.sweep(this.#transfers);
    try {
      const left = await this.#withRoot((root) => this.#journal.sweep(root));
      if (bodies > 0 || left > 0) logger.info('workspace.swept', { bodies, left });
    } catch (error) {
      // Without the folder nothing can be removed from it; the journal keeps what is left.
      logger.warn('workspace.not_swept', { error: asError(error).message });
    }
  }
}
