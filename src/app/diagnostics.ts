import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { CommandAnswer } from '../contract/commands.ts';
import { diagnosticsSchema, type Diagnostics } from '../contract/diagnostics.ts';
import type { View } from '../contract/view.ts';
import { tailLog } from '../observe/tail-log.ts';
import type { Redactor } from '../observe/redact.ts';
import { homeFolder } from '../platform/environment.ts';
import { machineFacts } from '../platform/machine.ts';
import { WIRE_VERSION } from '../protocol/version.ts';
import type { StatePaths } from '../store/paths.ts';

export const diagnosticsLimits = { logLines: 500, files: 200 } as const;

/** Where the facts come from: a running daemon, or the state folder alone (`view` is null). */
export interface DiagnosticsSource {
  readonly now: number;
  readonly version: string;
  readonly paths: StatePaths;
  readonly redactor: Redactor;
  readonly view: View | null;
  readonly checks: CommandAnswer<'doctor.run'>['checks'];
}

/**
 * The bundle of `diagnostics.collect`. What goes in is named here one by one; the mask and the shortening of paths are
 * the second line, for texts that others wrote (the log, reasons of a Harness).
 */
export async function collectDiagnostics(source: DiagnosticsSource): Promise<Diagnostics> {
  const { view, paths, checks } = source;
  const facts: Diagnostics = {
    format: 1,
    collected_at: new Date(source.now).toISOString(),
    app: { version: source.version, wire_version: WIRE_VERSION },
    platform: machineFacts(),
    runtime: view && { state: view.runtime.state, started_at: view.runtime.started_at },
    bindings: (view?.bindings ?? []).map((binding) => ({
      name: binding.name,
      local: binding.local,
      environment_id: binding.environment_id,
      session_id: binding.session_id,
      workspace: binding.workspace === null ? null : basename(binding.workspace),
      connection: binding.connection,
      harnesses: binding.harnesses.map(({ kind }) => kind),
    })),
    harnesses: harnessesOf(view),
    counts: view ? countsOf(view) : {},
    drops: view?.drops ?? {},
    health: view?.health ?? [],
    checks,
    cleanup: (view?.cleanup ?? []).map((item) => ({
      ...item,
      // That of a Turn holds the first line of its prompt.
      owner: item.kind === 'process' ? item.owner : null,
    })),
    log: await tailLog(paths.logs, diagnosticsLimits.logLines).catch(() => []),
    files: await fileSizes(paths.root),
  };
  const folders = (view?.bindings ?? []).flatMap(({ workspace }) => (workspace === null ? [] : [workspace]));
  const short = shortener([...folders, paths.root, homeFolder()]);
  return diagnosticsSchema.parse(mapTexts(facts, (text) => short(source.redactor.redact(text))));
}

/** A kind may be offered to several bindings; it is one program. */
function harnessesOf(view: View | null): Diagnostics['harnesses'] {
  const all = (view?.bindings ?? []).flatMap(({ harnesses }) => harnesses);
  return [...new Map(all.map((harness) => [harness.kind, harness])).values()];
}

function countsOf(view: View): Diagnostics['counts'] {
  const counts: Record<string, number> = {};
  const add = (name: string): void => void (counts[name] = (counts[name] ?? 0) + 1);
  for (const { state } of view.turns) add(`turns.${state}`);
  for (const { kind, state } of view.interactions) add(`interactions.${kind}.${state}`);
  for (const { kind, state } of view.cleanup) add(`cleanup.${kind}.${state}`);
  for (const { kind, state } of view.transfers) add(`transfers.${kind}.${state}`);
  for (const { kind, outcome } of view.history) add(`history.${kind}.${outcome}`);
  for (const { scope } of view.rules) add(`rules.${scope}`);
  return counts;
}

/** Sizes of our own files, two levels deep. Folders of Sessions and of bound Environments are left out. */
async function fileSizes(root: string): Promise<Diagnostics['files']> {
  const folders = [root, join(root, 'ledger'), join(root, 'logs')];
  const found: { name: string; bytes: number }[] = [];
  for (const folder of folders) {
    const names = await readdir(folder).catch((): string[] => []);
    for (const name of names.sort().slice(0, diagnosticsLimits.files)) {
      const path = join(folder, name);
      const facts = await stat(path).catch(() => null);
      if (facts?.isFile()) found.push({ name: relative(root, path), bytes: facts.size });
    }
  }
  return found;
}

/**
 * Cuts absolute paths to their last component: first the folders that are known, then whatever looks like one, on
 * POSIX and on Windows. Addresses keep theirs.
 */
export function shortener(known: readonly string[]): (text: string) => string {
  const folders = [...new Set(known)].filter((path) => path.length > 1).sort((a, b) => b.length - a.length);
  return (text) => {
    let out = text;
    for (const folder of folders) out = out.split(folder).join(`…/${basename(folder)}`);
    return out
      .replace(/(?<![\w.:/…~-])(?:\/[^\s"'/:,;()<>]+)+(\/[^\s"'/:,;()<>]+)/g, '…$1')
      .replace(/\b[A-Za-z]:\\(?:[^\s"'\\:,;]+\\)*([^\s"'\\:,;]+)/g, '…\\$1');
  };
}

/** The same document with every text in it replaced, names of members included. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [change(key), mapTexts(inner, change)]),
  );
}
