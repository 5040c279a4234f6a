import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { InstalledSkill } from '../adapter.ts';

/** Text between `!` and back quotes is a command that the program runs before the model has said anything. */
const PREPROCESSING = /!`[^`]+`|^```!/m;

/**
 * Skills as one package of the program, rebuilt in a folder of this adapter: the program sees copies, so that nothing
 * it does changes the installed snapshot. Null when there are none.
 * @throws system errors when the copies cannot be written.
 */
export async function buildSkillPackage(
  skills: readonly InstalledSkill[],
  folder: string,
): Promise<
  | { readonly kind: 'built'; readonly folder: string | null }
  | { readonly kind: 'refused'; readonly message: string }
> {
  await rm(folder, { recursive: true, force: true });
  if (skills.length === 0) return { kind: 'built', folder: null };
  for (const skill of skills) {
    const text = await readFile(join(skill.folder, 'SKILL.md'), 'utf8');
    if (PREPROCESSING.test(text)) {
      const message = `The Skill ${skill.name} runs commands while it is loaded, without asking. It is refused.`;
      return { kind: 'refused', message };
    }
  }
  await mkdir(join(folder, '.claude-plugin'), { recursive: true, mode: 0o700 });
  await writeFile(
    join(folder, '.claude-plugin', 'plugin.json'),
    JSON.stringify({ name: 'installed', version: '1.0.0', description: 'Skills of this Environment' }),
    { mode: 0o600 },
  );
  for (const skill of skills) {
    await cp(skill.folder, join(folder, 'skills', skill.name), { recursive: true, verbatimSymlinks: true });
  }
  return { kind: 'built', folder };
}
