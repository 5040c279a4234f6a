import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

import * as z from 'zod';

import type { Clock } from '../platform/clock.ts';
import { replaceFile } from '../platform/durable-file.ts';
import type { ProcessEntry, ProcessIdentity } from '../platform/process-identity.ts';
import { currentBootId } from '../platform/process-identity.ts';
import { systemProcessTable, type ProcessTable } from '../platform/process-table.ts';
import {
  defaultEndLimits,
  endTree,
  treeMembers,
  type EndLimits,
  type TreeRoot,
} from '../platform/process-tree.ts';
import type { Random } from '../platform/random.ts';
import { closed, unconfirmed, type CloseResult } from './owned.ts';

/**
 * The cleanup ledger: every native process group this daemon started and has not yet proven gone, on disk, so that a
 * daemon that was killed finds at its next start what it left behind. An entry is written before the process is
 * started (without a pid, the tracking variable alone identifies it) and again when its identity is known; both
 * writes are flushed before the caller goes on. It holds no command line, no environment and no payload.
 */
const entrySchema = z.object({
  id: z.string(),
  /** Value of the tracking variable in the environment of the start. */
  owner: z.string(),
  /** What it was for, for a person: "Claude Code", "Claude Code (probe)". */
  purpose: z.string(),
  runId: z.string().nullable(),
  sessionId: z.string().nullable(),
  recordedAt: z.number(),
  /** Null between the first write and the start. */
  process: z.object({ pid: z.number().int(), startTime: z.string(), bootId: z.string() }).nullable(),
});
const fileSchema = z.object({ version: z.literal(1), entries: z.array(entrySchema) });

export type LedgerEntry = Readonly<z.infer<typeof entrySchema>>;

/** What is known before the start. */
export interface LedgerRecord {
  readonly owner: string;
  readonly purpose: string;
  readonly runId?: string | null;
  readonly sessionId?: string | null;
}

/** An entry of an earlier daemon of which something still runs. */
export interface Orphan {
  readonly entry: LedgerEntry;
  /** Members of its tree that run now, none when the system would not say; the first process may be gone while descendants live on. */
  readonly pids: readonly number[];
}

export interface LedgerPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly table?: ProcessTable;
  readonly limits?: EndLimits;
}

const FILE = 'processes.json';

export class ProcessLedger {
  readonly #file: string;
  readonly #ports: Required<LedgerPorts>;
  readonly #entries: Map<string, LedgerEntry>;
  /** Ids of the entries that were there when this daemon opened the ledger. */
  readonly #inherited: Set<string>;
  /** Where a file that could not be understood was put, or null. The entries in it are not known to this daemon. */
  readonly setAside: string | null;
  #writing: Promise<void> = Promise.resolve();

  private constructor(
    file: string,
    ports: Required<LedgerPorts>,
    entries: readonly LedgerEntry[],
    setAside: string | null,
  ) {
    this.#file = file;
    this.#ports = ports;
    this.#entries = new Map(entries.map((entry) => [entry.id, entry]));
    this.#inherited = new Set(this.#entries.keys());
    this.setAside = setAside;
  }

  /**
   * Reads the ledger of `dir`; the caller holds the instance lock of that folder, so every entry found belongs to an
   * earlier daemon. A file that does not parse is renamed and named by `setAside`, never overwritten. Rejects when
   * the file cannot be read.
   */
  static async open(dir: string, ports: LedgerPorts): Promise<ProcessLedger> {
    const file = join(dir, FILE);
    const full = { table: systemProcessTable, limits: defaultEndLimits, ...ports };
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    if (text === null) return new ProcessLedger(file, full, [], null);
    const parsed = fileSchema.safeParse(parseJson(text));
    if (parsed.success) return new ProcessLedger(file, full, parsed.data.entries, null);
    const aside = `${file}.damaged-${ports.random.hex(4)}`;
    await rename(file, aside);
    return new ProcessLedger(file, full, [], aside);
  }

  /** Everything not yet proven gone. */
  get entries(): readonly LedgerEntry[] {
    return [...this.#entries.values()];
  }

  /** Writes the intent to start. Resolves when it is on disk; a start must not be made before, nor after a rejection. */
  async record(record: LedgerRecord): Promise<LedgerEntry> {
    const entry: LedgerEntry = {
      id: this.#ports.random.uuid(),
      owner: record.owner,
      purpose: record.purpose,
      runId: record.runId ?? null,
      sessionId: record.sessionId ?? null,
      recordedAt: this.#ports.clock.now(),
      process: null,
    };
    await this.#change(
      () => void this.#entries.set(entry.id, entry),
      () => void this.#entries.delete(entry.id),
    );
    return entry;
  }

  /** Adds the identity of what was started. Rejects when it could not be written; the entry without a pid stays. */
  async started(id: string, identity: ProcessIdentity): Promise<void> {
    const before = this.#entries.get(id);
    if (!before) return;
    const { pid, startTime, bootId } = identity;
    await this.#change(
      () => void this.#entries.set(id, { ...before, process: { pid, startTime, bootId } }),
      () => undefined,
    );
  }

  /** Forgets an entry whose end was proven. A write that fails is tried again with the next change. */
  async remove(id: string): Promise<void> {
    if (!this.#entries.has(id)) return;
    this.#inherited.delete(id);
    await this.#change(
      () => void this.#entries.delete(id),
      () => undefined,
    );
  }

  /**
   * Entries of an earlier daemon of which something still runs, with identity checked; the others are forgotten.
   * After a boot of the machine nothing can be left.
   */
  async orphans(): Promise<readonly Orphan[]> {
    const orphans: Orphan[] = [];
    for (const id of [...this.#inherited]) {
      const entry = this.#entries.get(id);
      if (!entry) continue;
      const members = await this.#membersOf(entry);
      if (members === null || members.length > 0)
        orphans.push({ entry, pids: (members ?? []).map((member) => member.pid) });
      else await this.remove(id).catch(() => undefined);
    }
    return orphans;
  }

  /** Null: the system will not say, which proves nothing. */
  async #membersOf(entry: LedgerEntry): Promise<readonly ProcessEntry[] | null> {
    try {
      return (await ofThisBoot(entry)) ? await treeMembers(this.#ports.table, rootOf(entry)) : [];
    } catch {
      return null;
    }
  }

  /** Ends what is left of an entry and verifies it. `closed` forgets the entry; may be called again after `unconfirmed`. */
  async reap(id: string): Promise<CloseResult> {
    const entry = this.#entries.get(id);
    if (!entry) return closed;
    try {
      if (await ofThisBoot(entry)) {
        const end = await endTree(this.#ports, rootOf(entry), this.#ports.limits);
        if (end.kind === 'remaining') return unconfirmed(stillRunning(end.pids));
      }
    } catch {
      return unconfirmed('the processes of this machine could not be listed');
    }
    await this.remove(id).catch(() => undefined);
    return closed;
  }

  /** One write at a time; each writes the whole state as it is then. `undo` runs when this change was not written. */
  #change(apply: () => void, undo: () => void): Promise<void> {
    const write = this.#writing.then(async () => {
      apply();
      const content = JSON.stringify({ version: 1, entries: this.entries }, null, 1);
      try {
        const replaced = await replaceFile(this.#file, `${content}\n`, this.#ports.random.hex(4));
        // It is written again with the next change; what was asked for counts only when it was flushed.
        if (replaced !== 'durable') throw new Error('the folder of the ledger could not be flushed');
      } catch (error) {
        undo();
        throw error;
      }
    });
    this.#writing = write.catch(() => undefined);
    return write;
  }
}

const rootOf = (entry: LedgerEntry): TreeRoot => ({
  pid: entry.process?.pid ?? null,
  startTime: entry.process?.startTime ?? null,
  owner: entry.owner,
  ownGroup: false,
});

const ofThisBoot = async (entry: LedgerEntry): Promise<boolean> =>
  entry.process === null || entry.process.bootId === (await currentBootId());

/** For a person: which processes did not end. */
export const stillRunning = (pids: readonly number[]): string =>
  `${pids.length === 1 ? 'process' : 'processes'} ${pids.slice(0, 8).join(', ')}${pids.length > 8 ? ' and more' : ''} did not end`;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
