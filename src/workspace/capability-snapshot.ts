import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { readPlugin, readSkill } from './capability-package.ts';
import { pluginServer, readPluginServers, type PluginServer } from './plugin-servers.ts';
import { WorkspaceError } from './workspace-error.ts';
import type { ArchiveFile } from './zip-archive.ts';

const snapshotFile = z.strictObject({ path: z.string(), sha256: z.string(), size: z.number().int() });
const snapshotSkill = z.strictObject({
  name: z.string(),
  description: z.string(),
  /** Relative to the snapshot, slash-separated. */
  folder: z.string(),
});

/** `installed.json`: what one Environment was given, for good (environment-workspace 6). */
export const snapshotManifest = z.strictObject({
  version: z.literal(1),
  environment_id: z.string(),
  session_id: z.string(),
  /** Digest of the selection (wire 4.10). */
  selection: z.string(),
  plugins: z.array(z.string()).max(100),
  /** Every package: its folder and one digest over the names, sizes and bytes of its files. */
  packages: z.array(snapshotFile),
  skills: z.array(snapshotSkill),
  servers: z.array(pluginServer),
});
export type SnapshotManifest = z.output<typeof snapshotManifest>;
export type SnapshotSkill = z.output<typeof snapshotSkill>;

/** A package of the selection with its files, and where it lies in the snapshot. */
export interface SnapshotPackage {
  readonly kind: 'skill' | 'plugin';
  readonly folder: string;
  readonly files: readonly ArchiveFile[];
}

/**
 * The Skills and MCP servers of packages, in their order.
 * @throws WorkspaceError `invalid` for a name that comes twice or a manifest that is not supported.
 */
export async function resolvePackages(packages: readonly SnapshotPackage[]): Promise<{
  readonly skills: SnapshotSkill[];
  readonly servers: PluginServer[];
}> {
  const skills: SnapshotSkill[] = [];
  const servers: PluginServer[] = [];
  for (const item of packages) {
    if (item.kind === 'skill') {
      skills.push({ ...(await skillOf(item.files, 'SKILL.md')), folder: item.folder });
      continue;
    }
    const plugin = readPlugin(item.files);
    for (const { path } of item.files) {
      const [top, name, file, ...deeper] = path.split('/');
      if (top !== plugin.skills || name === undefined || file !== 'SKILL.md' || deeper.length > 0) continue;
      skills.push({ ...(await skillOf(item.files, path)), folder: `${item.folder}/${top}/${name}` });
    }
    const declared = item.files.find((file) => file.path === '.mcp.json');
    if (declared) servers.push(...readPluginServers(declared.data, item.folder));
    else if (plugin.declaresServers)
      throw new WorkspaceError('invalid', 'a Plugin names a .mcp.json it lacks');
  }
  for (const names of [skills.map(({ name }) => name), servers.map(({ name }) => name)]) {
    if (new Set(names).size !== names.length) {
      throw new WorkspaceError('invalid', 'two Skills or two MCP servers have one name');
    }
  }
  return { skills, servers };
}

/** One digest of all files: their names, sizes and bytes. */
export function digestOf(files: readonly ArchiveFile[]): { readonly sha256: string; readonly size: number } {
  const hash = createHash('sha256');
  let size = 0;
  for (const { path, data } of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    hash.update(`${JSON.stringify(path)} ${data.length}\n`).update(data);
    size += data.length;
  }
  return { sha256: hash.digest('hex'), size };
}

/** @throws WorkspaceError `invalid` when it is not exactly the file that `sha256` is of. */
export async function readManifest(folder: string, sha256: string): Promise<SnapshotManifest> {
  const text = await readFile(join(folder, 'installed.json'), 'utf8').catch(() => '');
  if (createHash('sha256').update(text).digest('hex') !== sha256) {
    throw new WorkspaceError('invalid', 'the installed snapshot is missing or was changed');
  }
  return snapshotManifest.parse(JSON.parse(text));
}

async function skillOf(
  files: readonly ArchiveFile[],
  path: string,
): Promise<{ name: string; description: string }> {
  const manifest = files.find((file) => file.path === path);
  if (!manifest) throw new WorkspaceError('invalid', 'a Skill has no SKILL.md');
  return readSkill(manifest.data);
}
