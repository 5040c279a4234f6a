import { createHash } from 'node:crypto';
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../platform/durable-file.ts';
import type { CapabilitySources, SourceMetadata } from '../protocol/capability-sources.ts';
import { WorkspaceError } from './workspace-error.ts';
import type { ArchiveFile } from './zip-archive.ts';

const packageSchema = z.object({
  kind: z.enum(['skill', 'plugin']),
  slot: z.number().int().min(0),
  name: z.string(),
  description: z.string(),
  packed: z.number().int(),
  expanded: z.number().int(),
});
type Package = z.output<typeof packageSchema>;
const receivedSchema = z.object({ version: z.literal(1), packages: z.array(packageSchema) });

/** All inline Skills together, and all Plugins (environment-workspace 6). */
const totals = { packed: 10 * 1024 * 1024, expanded: 50 * 1024 * 1024, count: 50 } as const;
const snapshotBytes = 50 * 1024 * 1024;
const manifestBytes = 256 * 1024;

/**
 * Skills and Plugins of one Environment in a private folder, and the manifest that freezes them. The mark that says
 * so lies outside of that folder, so that a folder that was deleted is not taken for one that was never there.
 */
export class InstalledPackages {
  readonly #folder: string;
  readonly #mark: string;
  readonly #received: string;
  readonly #identity: { readonly environmentId: string; readonly sessionId: string };

  constructor(stateDir: string, identity: { environmentId: string; sessionId: string }) {
    this.#folder = join(stateDir, 'capabilities');
    this.#received = join(stateDir, 'received.json');
    this.#mark = join(stateDir, 'prepared.json');
    this.#identity = identity;
  }

  /** True after `finalize`: nothing is prepared any more. */
  async frozen(): Promise<boolean> {
    return (await lstat(this.#mark).catch(() => null)) !== null;
  }

  /** @throws WorkspaceError `exists`, `limit`, before anything changed. Other errors after something may have. */
  async install(
    kind: 'skill' | 'plugin',
    slot: number,
    metadata: SourceMetadata,
    files: readonly ArchiveFile[],
    packed: number,
    id: string,
  ): Promise<void> {
    const received = await this.#read();
    const same = received.filter((item) => item.kind === kind);
    const taken = same.some((item) => (kind === 'skill' ? item.name === metadata.name : item.slot === slot));
    if (taken) throw new WorkspaceError('exists', 'there is one of that name already');
    const expanded = files.reduce((sum, file) => sum + file.data.length, 0);
    const sum = (of: 'packed' | 'expanded', first: number): number =>
      same.reduce((total, item) => total + item[of], first);
    const all = received.reduce((total, item) => total + item.expanded, expanded);
    const fits =
      same.length < totals.count &&
      sum('packed', packed) <= totals.packed &&
      sum('expanded', expanded) <= totals.expanded &&
      all <= snapshotBytes;
    if (!fits) throw new WorkspaceError('limit', 'all packages together are too large');
    const staging = join(this.#folder, 'staging', id);
    await rm(staging, { recursive: true, force: true });
    for (const file of files) await put(join(staging, ...file.path.split('/')), file.data);
    const item: Package = { kind, slot, ...pick(metadata), packed, expanded };
    await mkdir(dirname(this.#path(item)), { recursive: true, mode: 0o700 });
    await rm(this.#path(item), { recursive: true, force: true });
    await rename(staging, this.#path(item));
    await replaceFile(this.#received, JSON.stringify({ version: 1, packages: [...received, item] }), id);
  }

  /** Freezes the selection. @throws WorkspaceError `invalid` when it is not what was installed, before anything changed. */
  async finalize(sources: CapabilitySources, id: string): Promise<void> {
    const received = await this.#read();
    const skills = received.filter((item) => item.kind === 'skill');
    const plugins = received.filter((item) => item.kind === 'plugin').sort((a, b) => a.slot - b.slot);
    if ((sources.directories ?? []).length > 0) {
      throw new WorkspaceError('invalid', 'capability directories are not served');
    }
    if (!matches(skills, sources.skills ?? []) || !matches(plugins, sources.plugins ?? [])) {
      throw new WorkspaceError('invalid', 'the selection is not what was installed');
    }
    for (const item of received) {
      const there = await lstat(this.#path(item)).catch(() => null);
      if (!there?.isDirectory()) throw new WorkspaceError('invalid', 'an installed package is missing');
    }
    const manifest = JSON.stringify({
      version: 1,
      environment_id: this.#identity.environmentId,
      session_id: this.#identity.sessionId,
      selection: selectionDigest(sources),
      skills: skills.map(pick),
      plugins: plugins.map((item) => ({ slot: item.slot, ...pick(item) })),
    });
    if (Buffer.byteLength(manifest) > manifestBytes)
      throw new WorkspaceError('limit', 'the manifest is too large');
    await replaceFile(join(this.#folder, 'installed.json'), manifest, id);
    const sha256 = createHash('sha256').update(manifest).digest('hex');
    await replaceFile(this.#mark, JSON.stringify({ version: 1, manifest: sha256 }), id);
  }

  async #read(): Promise<Package[]> {
    const text = await readFile(this.#received, 'utf8').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    return text === null ? [] : receivedSchema.parse(JSON.parse(text)).packages;
  }

  #path(item: Package): string {
    return item.kind === 'skill'
      ? join(this.#folder, 'skills', item.name)
      : join(this.#folder, 'plugins', String(item.slot));
  }
}

const pick = ({ name, description }: { name: string; description: string }) => ({ name, description });

const matches = (installed: readonly Package[], wanted: readonly SourceMetadata[]): boolean =>
  installed.length === wanted.length &&
  wanted.every(
    (item, n) => installed[n]?.name === item.name && installed[n].description === item.description,
  );

/** SHA-256 of the selection's JSON with empty lists left out (wire 4.10). */
export function selectionDigest({ skills = [], plugins = [], directories = [] }: CapabilitySources): string {
  const plain = ({ type, name, description }: SourceMetadata) => ({ type, name, description });
  const json = JSON.stringify({
    ...(skills.length > 0 ? { skills: skills.map(plain) } : {}),
    ...(plugins.length > 0 ? { plugins: plugins.map(plain) } : {}),
    ...(directories.length > 0 ? { directories } : {}),
  });
  return createHash('sha256').update(json).digest('hex');
}

async function put(path: string, data: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(data);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
