/**
 * Why the bound folder did not do something: the whole set. only `uncertain` and `unclosed` leave something open; every
 * other code is a proof that nothing changed.
 */
export const workspaceErrorCodes = [
  'not_found',
  'permission_denied',
  /** A component of the path, or the folder asked for, is missing, a file or a link. */
  'not_directory',
  /** The target is there and is no regular file, or the name cannot exist on this platform. */
  'invalid',
  /** Something is where nothing may be. */
  'exists',
  'is_directory',
  /** What was opened is not what was checked: somebody changes the path while it is used. */
  'unsafe',
  'no_space',
  'read_only',
  /** The bound folder itself is missing or is another one. */
  'root_unavailable',
  'changed',
  'limit',
  'cancelled',
  'uncertain',
  /** Something that was opened could not be closed; it may still be open. */
  'unclosed',
] as const;
export type WorkspaceErrorCode = (typeof workspaceErrorCodes)[number];

/** `message` is for the log of this machine. It holds no content and no path. */
export class WorkspaceError extends Error {
  readonly code: WorkspaceErrorCode;
  constructor(code: WorkspaceErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'WorkspaceError';
    this.code = code;
  }
}

export const systemCodeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';

const known: Readonly<Record<string, WorkspaceErrorCode>> = {
  ENOENT: 'not_found',
  ENOTDIR: 'not_directory',
  ELOOP: 'not_directory',
  EACCES: 'permission_denied',
  EPERM: 'permission_denied',
  EEXIST: 'exists',
  ENOTEMPTY: 'exists',
  EISDIR: 'is_directory',
  ENOSPC: 'no_space',
  EDQUOT: 'no_space',
  EROFS: 'read_only',
  ENAMETOOLONG: 'invalid',
  EINVAL: 'invalid',
  ENXIO: 'invalid',
};

/** A system error as one of ours; `otherwise` for what the table does not know. */
export function asWorkspaceError(
  error: unknown,
  doing: string,
  otherwise: WorkspaceErrorCode = 'uncertain',
): WorkspaceError {
  if (error instanceof WorkspaceError) return error;
  const code = systemCodeOf(error);
  return new WorkspaceError(known[code] ?? otherwise, `${doing}${code === '' ? '' : ` (${code})`}`, error);
}
