import { createHash } from 'node:crypto';
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../platform/durable-file.ts';
import type { CapabilitySources, SourceMetadata } from '../protocol/capability-sources.ts';
import { readCapabilityDirectory, readTree } from './capability-directories.ts';
import {
  digestOf,
  readManifest,
  resolvePackages,
  type SnapshotManifest,
  type SnapshotPackage,
  type SnapshotSkill,
} from './capability-snapshot.ts';
import type { PluginServer } from './plugin-servers.ts';
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

const markSchema = z.strictObject({
  version: z.literal(1),
  /** SHA-256 of the manifest; null: completed without one. */
  manifest: z.string().nullable(),
});

/** What the snapshot gives an execution; folders are absolute. */
export interface LoadedSnapshot {
  readonly skills: readonly SnapshotSkill[];
  readonly servers: readonly PluginServer[];
}

/** All inline Skills together, and all Plugins (environment-workspace 6). */
const totals = { packed: 10 * 1024 * 1024, expanded: 50 * 1024 * 1024, count: 50 } as const;
const snapshotBytes = 50 * 1024 * 1024;
const manifestBytes = 256 * 1024;
const pluginRoots = 100;
/** Files of one installed package: at most the entries of an archive. */
const packageEntries = 1_000;

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

  /**
   * Freezes the selection: capability directories are read now and copied.
   * @throws WorkspaceError when it is not what was installed or a directory cannot be taken, before anything is frozen.
   */
  async finalize(sources: CapabilitySources, id: string): Promise<void> {
    const received = await this.#read();
    const skills = received.filter((item) => item.kind === 'skill');
    const plugins = received.filter((item) => item.kind === 'plugin').sort((a, b) => a.slot - b.slot);
    if (!matches(skills, sources.skills ?? []) || !matches(plugins, sources.plugins ?? [])) {
      throw new WorkspaceError('invalid', 'the selection is not what was installed');
    }
    const packages: SnapshotPackage[] = [];
    for (const item of [...skills, ...plugins]) {
      const folder = packageFolder(item);
      packages.push({ kind: item.kind, folder, files: await this.#files(folder) });
    }
    const directories = await this.#directories(sources.directories ?? []);
    packages.push(...directories);
    const described = packages.map(({ folder, files }) => ({ path: folder, ...digestOf(files) }));
    if (described.reduce((sum, { size }) => sum + size, 0) > snapshotBytes) {
      throw new WorkspaceError('limit', 'all packages together are too large');
    }
    const manifest: SnapshotManifest = {
      version: 1,
      environment_id: this.#identity.environmentId,
      session_id: this.#identity.sessionId,
      selection: selectionDigest(sources),
      plugins: packages.filter(({ kind }) => kind === 'plugin').map(({ folder }) => folder),
      packages: described,
      ...(await resolvePackages(packages)),
    };
    const text = JSON.stringify(manifest);
    if (manifest.plugins.length > pluginRoots || Buffer.byteLength(text) > manifestBytes) {
      throw new WorkspaceError('limit', 'the manifest is too large');
    }
    await rm(join(this.#folder, 'directories'), { recursive: true, force: true });
    for (const { folder, files } of directories) {
      for (const file of files) await put(join(this.#folder, folder, ...file.path.split('/')), file.data);
    }
    await replaceFile(join(this.#folder, 'installed.json'), text, id);
    await this.#freeze(createHash('sha256').update(text).digest('hex'), id);
  }

  /**
   * What the frozen snapshot gives an execution that names `sources`. Anything absent, incomplete, contradictory or of
   * another binding is an error that leaves the bytes alone; nothing is read again from where it came.
   * @throws WorkspaceError `invalid`.
   */
  async load(sources: CapabilitySources): Promise<LoadedSnapshot> {
    const mark = await this.#marked();
    const selection = selectionDigest(sources);
    if (mark === null || mark.manifest === null) {
      if (selection === selectionDigest({})) return { skills: [], servers: [] };
      throw new WorkspaceError('invalid', 'the selection of this Environment was never installed');
    }
    const manifest = await readManifest(this.#folder, mark.manifest);
    const { environmentId, sessionId } = this.#identity;
    if (manifest.environment_id !== environmentId || manifest.session_id !== sessionId) {
      throw new WorkspaceError('invalid', 'the installed snapshot belongs to another Environment');
    }
    if (manifest.selection !== selection) {
      throw new WorkspaceError('invalid', 'another selection was installed than the one asked for');
    }
    for (const { path, sha256 } of manifest.packages) {
      if (digestOf(await this.#files(path)).sha256 !== sha256) {
        throw new WorkspaceError('invalid', 'an installed package was changed');
      }
    }
    const at = (folder: string): string => join(this.#folder, ...folder.split('/'));
    return {
      skills: manifest.skills.map((skill) => ({ ...skill, folder: at(skill.folder) })),
      servers: manifest.servers.map((server) =>
        server.kind === 'stdio' ? { ...server, cwd: at(server.cwd) } : server,
      ),
    };
  }

  /** An execution was prepared: what was not installed by now never is (runtime-behaviour 4.9, completion marker). */
  async complete(id: string): Promise<void> {
    if (!(await this.frozen())) await this.#freeze(null, id);
  }

  async #freeze(manifest: string | null, id: string): Promise<void> {
    await replaceFile(this.#mark, JSON.stringify({ version: 1, manifest }), id);
  }

  async #marked(): Promise<z.output<typeof markSchema> | null> {
    const text = await readFile(this.#mark, 'utf8').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    if (text === null) return null;
    try {
      return markSchema.parse(JSON.parse(text));
    } catch (error) {
      throw new WorkspaceError('invalid', 'the mark of the snapshot is damaged', error);
    }
  }

  async #directories(paths: readonly string[]): Promise<SnapshotPackage[]> {
    const found: SnapshotPackage[] = [];
    for (const [n, path] of paths.entries()) {
      const content = await readCapabilityDirectory(path, this.#folder);
      const folder = `directories/${n}`;
      if (content.kind === 'plugin') {
        found.push({ kind: 'plugin', folder, files: content.files });
        continue;
      }
      for (const skill of content.skills) {
        const place = skill.path === '' ? folder : `${folder}/${skill.path}`;
        found.push({ kind: 'skill', folder: place, files: skill.files });
      }
    }
    return found;
  }

  #files(folder: string): Promise<ArchiveFile[]> {
    const path = join(this.#folder, ...folder.split('/'));
    return readTree(path, path, { bytes: snapshotBytes, entries: packageEntries });
  }

  async #read(): Promise<Package[]> {
    const text = await readFile(this.#received, 'utf8').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    return text === null ? [] : receivedSchema.parse(JSON.parse(text)).packages;
  }

  #path(item: Package): string {
    return join(this.#folder, ...packageFolder(item).split('/'));
  }
}

/** Where a package lies in the snapshot, slash-separated. */
const packageFolder = (item: Package): string =>
  item.kind === 'skill' ? `skills/${item.name}` : `plugins/${item.slot}`;

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
