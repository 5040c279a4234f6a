import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

import type { NativeFileChange } from '../adapter.ts';
import { unifiedDiff } from '../unified-diff.ts';
import { hasCode, readShownFile } from '../workspace-file.ts';
import { DEMO_FILE } from './script.ts';

/** The change as it will be made, or why it cannot be made. */
export async function planChange(
  workspace: string,
  content: string,
): Promise<
  | { readonly kind: 'change'; readonly change: NativeFileChange }
  | { readonly kind: 'refused'; readonly reason: string }
> {
  const current = await readShownFile(join(workspace, DEMO_FILE));
  if (current.kind === 'unreadable')
    return { kind: 'refused', reason: `${DEMO_FILE} is there and is not a plain text file` };
  const before = current.kind === 'text' ? current.text : '';
  return {
    kind: 'change',
    change: {
      path: DEMO_FILE,
      kind: current.kind === 'text' ? 'update' : 'add',
      diff: unifiedDiff(before, content),
      insideWorkspace: true,
    },
  };
}

/** Null when written, else why not. Never writes through a link, nor into anything but a regular file. */
export async function writeDemoFile(workspace: string, content: string): Promise<string | null> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    const handle = await open(join(workspace, DEMO_FILE), flags, 0o644);
    try {
      if (!(await handle.stat()).isFile()) return `${DEMO_FILE} is not a plain file`;
      await handle.truncate(0);
      await handle.writeFile(content, 'utf8');
      return null;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (hasCode(error, 'ELOOP')) return `${DEMO_FILE} is a link to another place`;
    if (hasCode(error, 'EACCES') || hasCode(error, 'EROFS') || hasCode(error, 'EPERM'))
      return 'the folder may not be written to';
    if (hasCode(error, 'ENOSPC')) return 'the disk is full';
    return 'the folder could not be written to';
  }
}
