import * as z from 'zod';
import { isSkillName, type SourceMetadata } from '../protocol/capability-sources.ts';
import { WorkspaceError } from './workspace-error.ts';
import type { ArchiveFile } from './zip-archive.ts';

/**
 * What an archive must be to be a Skill or a Plugin (environment-workspace 6): one top folder with `SKILL.md` whose
 * front matter repeats the metadata, or a root with `.codex-plugin/plugin.json`. Returns the files without a Skill's
 * top folder.
 * @throws WorkspaceError `invalid`.
 */
export async function checkSkill(
  files: readonly ArchiveFile[],
  metadata: SourceMetadata,
): Promise<ArchiveFile[]> {
  const tops = new Set(files.map((file) => file.path.split('/')[0] ?? ''));
  const [top] = tops;
  if (tops.size !== 1 || top === undefined) throw wrong('a Skill has one top folder');
  const inside = files.map(({ path, data }) => ({ path: path.slice(top.length + 1), data }));
  if (inside.some((file) => file.path === '')) throw wrong('a Skill has one top folder');
  const manifest = inside.find((file) => file.path === 'SKILL.md');
  if (!manifest) throw wrong('a Skill has a SKILL.md');
  const front = await readSkill(manifest.data);
  if (front.name !== metadata.name || front.description !== metadata.description) {
    throw wrong('its SKILL.md says another name or description');
  }
  return inside;
}

export function checkPlugin(files: readonly ArchiveFile[], metadata: SourceMetadata): ArchiveFile[] {
  if (readPlugin(files).name !== metadata.name) throw wrong('its plugin.json says another name');
  return [...files];
}

const skillSchema = z.strictObject({
  name: z.string().refine(isSkillName),
  description: z.string().min(1),
  license: z.string().optional(),
  compatibility: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});

/**
 * The front matter of a `SKILL.md`. Hooks, permission controls and sub-agent directives are refused: they would act on
 * this machine without a question.
 * @throws WorkspaceError `invalid`.
 */
export async function readSkill(
  manifest: Buffer,
): Promise<{ readonly name: string; readonly description: string }> {
  const match = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(manifest.toString('utf8'));
  if (!match) throw wrong('its SKILL.md has no front matter');
  const { parseDocument } = await import('yaml');
  const document = parseDocument(match[1] ?? '', { schema: 'failsafe', uniqueKeys: true, merge: false });
  if (document.errors.length > 0) throw wrong('its front matter is no YAML');
  const parsed = skillSchema.safeParse(valueOf(() => document.toJS({ maxAliasCount: 0 })));
  if (!parsed.success) throw wrong('its front matter has a key or a value we refuse');
  // A block of text ends with a line break that no metadata has.
  return { name: parsed.data.name, description: parsed.data.description.trimEnd() };
}

const pluginSchema = z.object({
  name: z.string().min(1),
  skills: z
    .string()
    .regex(/^\.\/[A-Za-z0-9._-]+\/?$/)
    .refine((path) => !/^\.\/\.+\/?$/.test(path))
    .optional(),
  mcpServers: z.literal('./.mcp.json').optional(),
  hooks: z.undefined().optional(),
});

export interface PluginManifest {
  readonly name: string;
  /** Folder of the Plugin's Skills, relative, without a slash at its end. */
  readonly skills: string;
  readonly declaresServers: boolean;
}

/** @throws WorkspaceError `invalid`. */
export function readPlugin(files: readonly ArchiveFile[]): PluginManifest {
  const manifest = files.find((file) => file.path === '.codex-plugin/plugin.json');
  if (!manifest) throw wrong('a Plugin has a .codex-plugin/plugin.json');
  const parsed = pluginSchema.safeParse(valueOf(() => JSON.parse(manifest.data.toString('utf8'))));
  if (!parsed.success) throw wrong('its plugin.json is none we read');
  const { name, skills = './skills', mcpServers } = parsed.data;
  return {
    name,
    skills: skills.slice(2).replace(/\/$/, ''),
    declaresServers: mcpServers !== undefined,
  };
}

/** What `read` gives, or nothing that a schema takes. */
function valueOf(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const wrong = (what: string): WorkspaceError => new WorkspaceError('invalid', what);
