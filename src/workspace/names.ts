import { WorkspaceError } from './workspace-error.ts';

/** One component of a path, as the bytes the system gets. Not every name on a disk is UTF-8. */
export type Name = Buffer;

const NAME_BYTES = 255;
const RESERVED = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\..*)?$/i;

/**
 * The components of an API path (wire 1.4, already checked for its spelling). The root has none.
 * @throws WorkspaceError `invalid` for a name that this platform reads as something else.
 */
export function componentsOf(path: string, platform: NodeJS.Platform): Name[] {
  if (path === '') return [];
  return path.split('/').map((part) => nameOf(part, platform));
}

export function nameOf(part: string, platform: NodeJS.Platform): Name {
  const name = Buffer.from(part, 'utf8');
  const plain = part !== '' && part !== '.' && part !== '..' && !/[/\0]/.test(part);
  if (!plain || name.length > NAME_BYTES || (platform === 'win32' && !isWindowsName(part))) {
    throw new WorkspaceError('invalid', 'a name cannot exist on this platform');
  }
  return name;
}

/** No device, no alternate stream, nothing Windows would strip or read as a short name of something else. */
export function isWindowsName(part: string): boolean {
  const hasControl = [...part].some((letter) => letter.charCodeAt(0) < 32);
  return !/[<>:"|?*\\/]/.test(part) && !hasControl && !/[. ]$/.test(part) && !RESERVED.test(part.trim());
}

/** The text of a name, or null when its bytes are no UTF-8. */
export function textOf(name: Name): string | null {
  const text = name.toString('utf8');
  return Buffer.from(text, 'utf8').equals(name) ? text : null;
}
