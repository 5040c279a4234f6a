import {
  EXPORT_ARCHIVE_BYTES,
  EXPORT_DEPTH,
  EXPORT_ENTRIES,
  EXPORT_FILE_BYTES,
  EXPORT_SUM_BYTES,
  PATH_BYTES,
  TRANSFER_CHUNK_BYTES,
} from '../protocol/limits.ts';
import { textOf, type Name } from './names.ts';
import type { Folder } from './safe-path.ts';
import { tarEnd, tarHeaders, tarPadding } from './tar-headers.ts';
import { asWorkspaceError, WorkspaceError } from './workspace-error.ts';

/** Why an export ended early. `path` is for the log of this machine and goes nowhere else. */
export class ExportError extends WorkspaceError {
  readonly path: string;
  constructor(path: string, cause: WorkspaceError) {
    super(cause.code, cause.message, cause);
    this.path = path;
  }
}

export interface ExportLimits {
  readonly fileBytes: number;
  readonly sumBytes: number;
  readonly entries: number;
  readonly depth: number;
}
export const exportLimits: ExportLimits = {
  fileBytes: EXPORT_FILE_BYTES,
  sumBytes: EXPORT_SUM_BYTES,
  entries: EXPORT_ENTRIES,
  depth: EXPORT_DEPTH,
};

const OUTPUTS = 'outputs';
const STEP = 4 * TRANSFER_CHUNK_BYTES;

/**
 * The archive of the folder `outputs` (wire 12.4, runtime-behaviour 4.8), piece by piece: regular files alone, depth
 * first, names in byte order. It reads only as far as it is asked; at most one piece is in memory.
 * @throws ExportError for a special file, a file that changes while it is read, or a bound.
 */
export async function* exportOutputs(
  root: Folder,
  signal: AbortSignal,
  limits: ExportLimits = exportLimits,
): AsyncGenerator<Buffer, void> {
  const budget = { entries: 0, bytes: 0 };
  const name = Buffer.from(OUTPUTS);
  const there = await root.look(name);
  if (there) {
    if (!there.isDirectory()) throw failed(OUTPUTS, 'not_directory', 'it is no folder');
    yield* exportFolder(root, name, OUTPUTS, 1, budget, signal, limits);
  }
  yield tarEnd();
}

async function* exportFolder(
  parent: Folder,
  name: Name,
  path: string,
  depth: number,
  budget: { entries: number; bytes: number },
  signal: AbortSignal,
  limits: ExportLimits,
): AsyncGenerator<Buffer, void> {
  if (depth > limits.depth) throw failed(path, 'limit', 'it is nested too deep');
  const folder = await parent.child(name).catch((error: unknown) => {
    throw new ExportError(path, asWorkspaceError(error, 'it could not be opened'));
  });
  try {
    const names: Name[] = [];
    for await (const entry of folder.names()) {
      if (++budget.entries > limits.entries) throw failed(path, 'limit', 'there are too many entries');
      names.push(Buffer.from(entry));
    }
    names.sort(Buffer.compare);
    for (const entry of names) {
      if (signal.aborted) throw failed(path, 'cancelled', 'it was given up');
      const text = textOf(entry);
      const full = `${path}/${text ?? ''}`;
      if (text === null || /[\\\r\n]/.test(text) || Buffer.byteLength(full) > PATH_BYTES) {
        throw failed(path, 'invalid', 'a name in it cannot stand in the archive');
      }
      const stats = await folder.look(entry);
      if (!stats) throw failed(full, 'changed', 'it vanished');
      if (stats.isSymbolicLink()) continue;
      if (stats.isDirectory()) yield* exportFolder(folder, entry, full, depth + 1, budget, signal, limits);
      else if (stats.isFile()) yield* exportFile(folder, entry, full, budget, signal, limits);
      else throw failed(full, 'invalid', 'it is neither a file nor a folder');
    }
  } finally {
    await folder.close();
  }
}

async function* exportFile(
  folder: Folder,
  name: Name,
  path: string,
  budget: { bytes: number },
  signal: AbortSignal,
  limits: ExportLimits,
): AsyncGenerator<Buffer, void> {
  const { handle, stats } = await folder.openFile(name).catch((error: unknown) => {
    throw new ExportError(path, asWorkspaceError(error, 'it could not be opened'));
  });
  try {
    const size = Number(stats.size);
    budget.bytes += size;
    if (size > limits.fileBytes) throw failed(path, 'limit', 'it is too large');
    if (budget.bytes > limits.sumBytes) throw failed(path, 'limit', 'all files together are too large');
    yield tarHeaders(path, size, Number(stats.mtimeMs) / 1_000);
    for (let at = 0; at < size;) {
      if (signal.aborted) throw failed(path, 'cancelled', 'it was given up');
      const buffer = Buffer.allocUnsafeSlow(Math.min(STEP, size - at));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) throw failed(path, 'changed', 'it became shorter while it was read');
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
    const after = await handle.stat({ bigint: true });
    if (after.size !== stats.size || after.mtimeNs !== stats.mtimeNs || after.ctimeNs !== stats.ctimeNs) {
      throw failed(path, 'changed', 'it changed while it was read');
    }
    await folder.verify();
    yield tarPadding(size);
  } catch (error) {
    if (error instanceof ExportError) throw error;
    throw new ExportError(path, asWorkspaceError(error, 'it could not be read'));
  } finally {
    await handle.close();
  }
}

const failed = (path: string, code: WorkspaceError['code'], message: string): ExportError =>
  new ExportError(path, new WorkspaceError(code, message));

/** Pieces of any size as chunks of the wire, asked for one at a time. */
export class ExportStream {
  readonly #pieces: AsyncGenerator<Buffer, void>;
  readonly #abort = new AbortController();
  #rest: Buffer[] = [];
  #held = 0;
  #sent = 0;
  #ended = false;

  constructor(create: (signal: AbortSignal) => AsyncGenerator<Buffer, void>) {
    this.#pieces = create(this.#abort.signal);
  }

  /** The next 1 to 65 536 bytes, or null at the end, when every handle is closed. @throws ExportError */
  async next(): Promise<Buffer | null> {
    while (!this.#ended && this.#held < TRANSFER_CHUNK_BYTES) {
      const piece = await this.#pieces.next();
      if (piece.done) this.#ended = true;
      else if (piece.value.length > 0) {
        this.#rest.push(piece.value);
        this.#held += piece.value.length;
      }
    }
    if (this.#held === 0) return null;
    const length = Math.min(this.#held, TRANSFER_CHUNK_BYTES);
    const chunk = this.#take(length);
    this.#sent += length;
    if (this.#sent > EXPORT_ARCHIVE_BYTES) throw failed(OUTPUTS, 'limit', 'the archive is too large');
    return chunk;
  }

  /** Stops the producer; resolves when every handle is closed. */
  async close(): Promise<void> {
    this.#abort.abort();
    await this.#pieces.return();
  }

  #take(length: number): Buffer {
    this.#held -= length;
    const first = this.#rest[0];
    if (first && first.length >= length) {
      if (first.length === length) this.#rest.shift();
      else this.#rest[0] = first.subarray(length);
      return first.subarray(0, length);
    }
    const all = Buffer.concat(this.#rest);
    this.#rest = all.length > length ? [all.subarray(length)] : [];
    return all.subarray(0, length);
  }
}
