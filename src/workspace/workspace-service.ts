import type { CapabilitySources } from '../protocol/capability-sources.ts';
import type { DirectoryListing } from '../protocol/workspace-read.ts';
import type { RuntimePrepareBegin } from '../protocol/initialization.ts';
import type { CloseResult } from '../ownership/owned.ts';
import type { ExportStream } from './export-outputs.ts';
import type { FileBytes } from './read-file.ts';
import type { ReadLatch } from './read-latch.ts';
import type { Spool } from './spool.ts';
import type { WriteOutcome } from './write-file.ts';
import type { Inspection } from './inspect-file.ts';

/** An opened bound folder. Everything that uses it ends before it is closed. */
export interface OpenedWorkspace {
  /** @throws WorkspaceError */
  read(path: string, maxBytes: number, signal: AbortSignal): Promise<FileBytes>;
  /** @throws WorkspaceError */
  list(path: string, maxEntries: number, signal: AbortSignal): Promise<DirectoryListing>;
  export(): ExportStream;
  /** May be called again after `unconfirmed`. */
  close(): Promise<CloseResult>;
}

/** One MCP server of an installed Plugin with the values of the variables that it selects. Secret. */
export type PreparedServer = {
  readonly name: string;
} & (
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly bearer: string | null;
      readonly headers: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
    }
);

export interface PreparedCapabilities {
  readonly variables: Readonly<Record<string, string>>;
  readonly skills: readonly {
    readonly name: string;
    readonly description: string;
    readonly folder: string;
  }[];
  readonly servers: readonly PreparedServer[];
}

export interface NewFile {
  readonly id: string;
  /** API path. */
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

export type PrepareResult =
  | { readonly kind: 'completed' }
  /** Nothing happened. */
  | { readonly kind: 'rejected'; readonly why: string }
  /** It ended and failed; `exitCode` when a command ran. */
  | { readonly kind: 'failed'; readonly exitCode: number | null; readonly why: string }
  /** It may have had an effect. `settled`: nothing of it runs any more. */
  | { readonly kind: 'unknown'; readonly settled: boolean; readonly why: string };

/**
 * What the Runtime asks of the bound folder of one Environment. It outlives connections. The words (`why`) are for
 * the log of this machine and name no content.
 */
export interface WorkspaceService {
  readonly latch: ReadLatch;
  /** @throws WorkspaceError `root_unavailable`, `permission_denied`. */
  open(): Promise<OpenedWorkspace>;
  /** A private place for the body of a transfer. @throws WorkspaceError */
  spool(id: string): Promise<Spool>;
  /** Creates a file that is not there. Never throws. */
  create(file: NewFile, body: Spool): Promise<WriteOutcome>;
  /** Evidence about a write whose outcome is unknown. @throws WorkspaceError */
  inspect(file: NewFile): Promise<Inspection>;
  /** Removes what is recorded about a write that was settled. */
  forget(id: string): Promise<void>;
  /** Null: this action is served. Else why it is refused before anything happens. */
  refusePreparation(): Promise<string | null>;
  /** One step of initialization (runtime-behaviour 4.9). Never throws. `signal` asks it to stop. */
  prepare(
    id: string,
    begin: RuntimePrepareBegin,
    body: Spool | null,
    signal: AbortSignal,
  ): Promise<PrepareResult>;
  /**
   * What was prepared for an execution that names `sources` (environment-workspace 5 to 7). `variables`: it asks for
   * the prepared ones. Memory alone holds what it gives.
   * @throws WorkspaceError `invalid`: not what was installed, or a variable that a server needs is missing.
   */
  prepared(wanted: {
    readonly sources: CapabilitySources;
    readonly variables: boolean;
  }): Promise<PreparedCapabilities>;
  /** The first execution was prepared: from now on nothing is initialized any more. Once; never throws. */
  completed(): Promise<void>;
  /** Looks again whether anything of a step with an unknown outcome still runs. */
  settlePreparation(id: string): Promise<CloseResult>;
}
