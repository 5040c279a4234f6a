import * as z from 'zod';

import { base64ByteLength } from './base64.ts';
import { isApiPath } from './ids.ts';
import { DIRECTORY_ENTRIES, ENTRY_NAME_BYTES, READ_BYTES } from './limits.ts';
import {
  expected,
  flag,
  given,
  integer,
  nullable,
  oneOf,
  optional,
  optionalOneOf,
  required,
  text,
  where,
  written,
} from './presence.ts';
import { base64Text } from './transfer.ts';
import { fitsUtf8, hasLoneSurrogate } from './utf8.ts';
import { violation, type Violation } from './violation.ts';

/** Reads of one file or one directory (wire 12.1 and 12.2). */

export interface WorkspaceReadPayload {
  handle?: string | undefined;
  run_id?: string | undefined;
  environment_id: string;
  /** API path; empty is the root. */
  path: string;
  /** Byte read: 1 to 1 048 576. Directory: 0. */
  max_bytes: number;
  operation?: 'directory' | undefined;
  /** Directory: 1 to 1 024. */
  max_entries?: number | undefined;
}

/** `workspace_read`, Core to Runtime; id = operation id. Exactly one of `handle` and `run_id` names the target. */
export const workspaceReadPayload = z
  .strictObject({
    handle: optional(text),
    run_id: optional(text),
    environment_id: expected(text),
    path: written(text),
    max_bytes: written(integer),
    operation: optional(text),
    max_entries: optional(integer),
  })
  .transform((read, context): WorkspaceReadPayload => {
    const refuse = (member: string): never => {
      context.addIssue({ code: 'custom', message: 'invalid read', path: [member] });
      return z.NEVER;
    };
    if (!read.handle === !read.run_id) return refuse('handle');
    if (read.environment_id === '') return refuse('environment_id');
    if (read.operation !== undefined && read.operation !== '' && read.operation !== 'directory')
      return refuse('operation');
    const directory = read.operation === 'directory';
    if (!isApiPath(read.path, { rootAllowed: directory || read.path === '' })) return refuse('path');
    const entries = read.max_entries ?? 0;
    if (directory ? read.max_bytes !== 0 : read.max_bytes < 1 || read.max_bytes > READ_BYTES)
      return refuse('max_bytes');
    if (directory ? entries < 1 || entries > DIRECTORY_ENTRIES : entries !== 0) return refuse('max_entries');
    return { ...read, operation: directory ? 'directory' : undefined };
  });

export const directoryEntryKinds = ['file', 'directory', 'symlink', 'other'] as const;
export type DirectoryEntryKind = (typeof directoryEntryKinds)[number];

/** A name that can stand on the wire: one component of at most 255 bytes. */
export const isEntryName = (name: string): boolean =>
  name !== '' &&
  name !== '.' &&
  name !== '..' &&
  fitsUtf8(name, ENTRY_NAME_BYTES) &&
  !hasLoneSurrogate(name) &&
  !/[/\\\0\r\n]/.test(name);

export const directoryEntry = z
  .object({
    name: required(where(text, isEntryName)),
    kind: required(oneOf(directoryEntryKinds)),
    /** A number for files and null for everything else. */
    size_bytes: nullable(integer),
  })
  .refine((entry) =>
    entry.kind === 'file' ? entry.size_bytes !== null && entry.size_bytes >= 0 : entry.size_bytes === null,
  );
export type DirectoryEntry = z.output<typeof directoryEntry>;

export const directoryListing = z.object({
  entries: required(
    where(
      z.array(directoryEntry),
      (entries) =>
        entries.length <= DIRECTORY_ENTRIES &&
        new Set(entries.map((entry) => entry.name)).size === entries.length,
    ),
  ),
  truncated: required(flag),
});
export type DirectoryListing = z.output<typeof directoryListing>;

export const readOutcomes = ['completed', 'rejected', 'unknown'] as const;
export const readRejectionCodes = [
  'invalid_request',
  'resource_unavailable',
  'read_capacity',
  'read_unsupported',
  'not_found',
  'permission_denied',
  'not_directory',
] as const;
export type ReadRejectionCode = (typeof readRejectionCodes)[number];
export const readCodes = [...readRejectionCodes, 'read_unconfirmed'] as const;

/** `workspace_read_result`, Runtime to Core; id of the request. Refusals carry a code and nothing else. */
export const workspaceReadResultPayload = z
  .object({
    outcome: required(oneOf(readOutcomes)),
    data: optional(base64Text),
    /** True only when exactly `max_bytes` bytes are given. */
    truncated: optional(flag),
    close_acknowledged: optional(flag),
    error_code: optionalOneOf(readCodes),
    directory: given(directoryListing),
  })
  .superRefine((result, context) => {
    const path = readResultFault(result);
    if (path) context.addIssue({ code: 'custom', message: 'inconsistent result', path: [path] });
  });
export type WorkspaceReadResultPayload = z.output<typeof workspaceReadResultPayload>;

function readResultFault(result: {
  outcome: string;
  data?: string | undefined;
  truncated?: boolean | undefined;
  close_acknowledged?: boolean | undefined;
  error_code?: string | undefined;
  directory?: DirectoryListing | undefined;
}): string | undefined {
  const code = result.error_code ?? '';
  if (result.outcome === 'completed') {
    if (code !== '') return 'error_code';
    if (!result.close_acknowledged) return 'close_acknowledged';
    if (result.directory && result.data) return 'data';
    if (result.directory && result.truncated) return 'truncated';
    return result.data !== undefined && base64ByteLength(result.data) > READ_BYTES ? 'data' : undefined;
  }
  if (result.data) return 'data';
  if (result.truncated) return 'truncated';
  if (result.directory) return 'directory';
  if (result.close_acknowledged) return 'close_acknowledged';
  const allowed: readonly string[] = result.outcome === 'unknown' ? ['read_unconfirmed'] : readRejectionCodes;
  return allowed.includes(code) ? undefined : 'error_code';
}

/** The rules of a read result that need its request (Core's side, and our own check before sending). */
export function readResultViolation(
  request: WorkspaceReadPayload,
  result: WorkspaceReadResultPayload,
): Violation | undefined {
  const directory = request.operation === 'directory';
  if (result.error_code === 'not_directory' && !directory) return violation(['error_code']);
  if (result.error_code === 'not_found' && directory) return violation(['error_code']);
  if (result.outcome !== 'completed') return undefined;
  if (directory) {
    if (!result.directory || result.directory.entries.length > (request.max_entries ?? 0))
      return violation(['directory']);
    return undefined;
  }
  if (result.directory) return violation(['directory']);
  const bytes = base64ByteLength(result.data ?? '');
  if (bytes > request.max_bytes) return violation(['data']);
  return result.truncated && bytes !== request.max_bytes ? violation(['truncated']) : undefined;
}
