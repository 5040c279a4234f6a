import { z } from 'zod';
import { isSkillName, type SourceMetadata } from '../protocol/capability-sources.ts';
import { WorkspaceError } from './workspace-error.ts';
import type { ArchiveFile } from './zip-archive.ts';

/**
 * What an archive must be to be a Skill or a Plugin (environment-workspace 6): one top folder with `SKILL.md` whose
 * front matter repeats the metadata, or a root with `.codex-plugin/plugin.json`. Returns the files without a Skill's
 * top folder.
 * @throws WorkspaceError `invalid`.
 */
export function checkSkill(files: readonly ArchiveFile[], metadata: SourceMetadata): ArchiveFile[] {
  if (!isSkillName(metadata.name)) throw wrong('its name is no Skill name');
  const tops = new Set(files.map((file) => file.path.split('/')[0] ?? ''));
  const [top] = tops;
  if (tops.size !== 1 || top === undefined) throw wrong('a Skill has one top folder');
  const inside = files.map(({ path, data }) => ({ path: path.slice(top.length + 1), data }));
  if (inside.some((file) => file.path === '')) throw wrong('a Skill has one top folder');
  const manifest = inside.find((file) => file.path === 'SKILL.md');
  if (!manifest) throw wrong('a Skill has a SKILL.md');
  const front = frontMatter(manifest.data.toString('utf8'));
  if (front['name'] !== metadata.name || front['description'] !== metadata.description) {
    throw wrong('its SKILL.md says another name or description');
  }
  return inside;
}

export function checkPlugin(files: readonly ArchiveFile[], metadata: SourceMetadata): ArchiveFile[] {
  const manifest = files.find((file) => file.path === '.codex-plugin/plugin.json');
  if (!manifest) throw wrong('a Plugin has a .codex-plugin/plugin.json');
  const parsed = pluginSchema.safeParse(parseJson(manifest.data.toString('utf8')));
  if (!parsed.success) throw wrong('its plugin.json is none we read');
  if (parsed.data.name !== metadata.name) throw wrong('its plugin.json says another name');
  return [...files];
}

const pluginSchema = z.object({
  name: z.string().min(1),
  mcpServers: z.literal('./.mcp.json').optional(),
  hooks: z.undefined().optional(),
});

const allowedKeys = new Set(['name', 'description', 'license', 'compatibility', 'metadata']);

/** The plain part of YAML that Skills use: one text a line, `metadata` with texts below it. Anything else is refused. */
function frontMatter(text: string): Record<string, string> {
  const match = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(text);
  if (!match) throw wrong('its SKILL.md has no front matter');
  const values: Record<string, string> = {};
  let inMetadata = false;
  for (const line of (match[1] ?? '').split(/\r?\n/)) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const [, indent = '', key = '', value = ''] = /^(\s*)([A-Za-z0-9_.-]+):\s*(.*)$/.exec(line) ?? [];
    if (key === '') throw wrong('its front matter is none we read');
    if (indent !== '') {
      if (!inMetadata) throw wrong('its front matter is none we read');
      continue;
    }
    if (!allowedKeys.has(key) || Object.hasOwn(values, key))
      throw wrong('its front matter has a key we refuse');
    inMetadata = key === 'metadata';
    if (inMetadata && value !== '') throw wrong('its front matter is none we read');
    values[key] = scalar(value);
  }
  return values;
}

function scalar(value: string): string {
  const text = value.trim();
  if (/^[|>&*!%@`[{]/.test(text)) throw wrong('its front matter is none we read');
  if (text.startsWith('"')) {
    const parsed = z.string().safeParse(parseJson(text));
    if (!parsed.success) throw wrong('its front matter is none we read');
    return parsed.data;
  }
  if (text.startsWith("'")) {
    if (!/^'(?:[^']|'')*'$/.test(text)) throw wrong('its front matter is none we read');
    return text.slice(1, -1).replace(/''/g, "'");
  }
  return text.replace(/\s+#.*$/, '');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const wrong = (what: string): WorkspaceError => new WorkspaceError('invalid', what);
