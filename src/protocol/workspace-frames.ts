import { z } from 'zod';

import { base64ByteLength, isBase64 } from './base64.ts';
import { isApiPath, isCanonicalUuid, isSha256Text } from './ids.ts';
import {
  CORRELATION_ID_BYTES,
  DIRECTORY_ENTRIES,
  ENTRY_NAME_BYTES,
  EXPORT_ARCHIVE_BYTES,
  READ_BYTES,
  TRANSFER_CHUNK_BYTES,
  WRITE_BODY_BYTES,
} from './limits.ts';
import {
  expected,
  flag,
  given,
  integer,
  list,
  nullable,
  oneOf,
  optional,
  optionalOneOf,
  required,
  text,
  where,
  written,
} from './presence.ts';
import { fitsUtf8, hasLoneSurrogate } from './utf8.ts';
import { violation, type Violation } from './violation.ts';

/** Workspace operations (wire 12): reads, single-file writes and the export of `outputs`. */

/** Canonical base64; its decoded length is a rule of the member that holds it. */
export const base64Text = z.custom<string>((value) => typeof value === 'string' && isBase64(value), {
  params: { stage: 'decode' },
});

const isChunk = (data: string | undefined): data is string =>
  data !== undefined && data !== '' && base64ByteLength(data) <= TRANSFER_CHUNK_BYTES;

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

export type WorkspaceWritePayload =
  | {
      step: 'begin';
      environment_id: string;
      session_id: string;
      path: string;
      size_bytes: number;
      sha256: string;
    }
  | { step: 'chunk'; offset: number; data: string }
  | { step: 'commit' };

/** `workspace_write`, Core to Runtime; id = mutation id, a canonical UUID. */
export const workspaceWritePayload = z
  .strictObject({
    step: required(oneOf(['begin', 'chunk', 'commit'])),
    environment_id: optional(text),
    session_id: optional(text),
    path: optional(text),
    size_bytes: optional(integer),
    sha256: optional(text),
    offset: optional(integer),
    data: optional(base64Text),
  })
  .transform((write, context): WorkspaceWritePayload => {
    const refuse = (member: string): never => {
      context.addIssue({ code: 'custom', message: 'invalid write', path: [member] });
      return z.NEVER;
    };
    const {
      environment_id = '',
      session_id = '',
      path = '',
      size_bytes = 0,
      sha256 = '',
      offset = 0,
      data,
    } = write;
    if (write.step === 'begin') {
      if (!isCanonicalUuid(environment_id)) return refuse('environment_id');
      if (!isCanonicalUuid(session_id)) return refuse('session_id');
      if (!isApiPath(path, { rootAllowed: false })) return refuse('path');
      if (size_bytes < 0 || size_bytes > WRITE_BODY_BYTES) return refuse('size_bytes');
      if (!isSha256Text(sha256)) return refuse('sha256');
      if (offset !== 0) return refuse('offset');
      if (data) return refuse('data');
      return { step: 'begin', environment_id, session_id, path, size_bytes, sha256 };
    }
    if (environment_id !== '') return refuse('environment_id');
    if (session_id !== '') return refuse('session_id');
    if (path !== '') return refuse('path');
    if (size_bytes !== 0) return refuse('size_bytes');
    if (sha256 !== '') return refuse('sha256');
    if (write.step === 'commit')
      return offset !== 0 ? refuse('offset') : data ? refuse('data') : { step: 'commit' };
    if (offset < 0 || offset > WRITE_BODY_BYTES) return refuse('offset');
    if (!isChunk(data) || offset + base64ByteLength(data) > WRITE_BODY_BYTES) return refuse('data');
    return { step: 'chunk', offset, data };
  });

export const writeOutcomes = ['ready', 'received', 'completed', 'rejected', 'unknown'] as const;
export const writeRejectionCodes = [
  'invalid_request',
  'resource_unavailable',
  'write_capacity',
  'write_unsupported',
  'write_rejected',
] as const;
export type WriteRejectionCode = (typeof writeRejectionCodes)[number];
export const writeCodes = [...writeRejectionCodes, 'write_unconfirmed'] as const;
export const writeRejectionReasons = ['destination_directory', 'unsafe_destination'] as const;

/** `workspace_write_result`, Runtime to Core; id of the request. */
export const workspaceWriteResultPayload = z
  .object({
    outcome: required(oneOf(writeOutcomes)),
    /** `received`: bytes staged so far. */
    offset: optional(integer),
    /** `completed`: the declared size. */
    size_bytes: optional(integer),
    error_code: optionalOneOf(writeCodes),
    reason: optionalOneOf(writeRejectionReasons),
  })
  .superRefine((result, context) => {
    const path = writeResultFault(result);
    if (path) context.addIssue({ code: 'custom', message: 'inconsistent result', path: [path] });
  });
export type WorkspaceWriteResultPayload = z.output<typeof workspaceWriteResultPayload>;

function writeResultFault(result: {
  outcome: string;
  size_bytes?: number | undefined;
  error_code?: string | undefined;
  reason?: string | undefined;
}): string | undefined {
  const code = result.error_code ?? '';
  if (result.size_bytes && result.outcome !== 'completed') return 'size_bytes';
  if (result.reason && !(result.outcome === 'rejected' && code === 'write_rejected')) return 'reason';
  if (result.outcome === 'rejected')
    return writeRejectionCodes.some((known) => known === code) ? undefined : 'error_code';
  if (result.outcome === 'unknown') return code === 'write_unconfirmed' ? undefined : 'error_code';
  return code === '' ? undefined : 'error_code';
}

/** Our senders write `offset` with `received` alone. */
export const transferResultSenderRule = (result: {
  outcome: string;
  offset?: number | undefined;
}): string | undefined => (result.offset && result.outcome !== 'received' ? 'offset' : undefined);

/** What the next receipt of a transfer must say. */
export interface ExpectedReceipt {
  readonly outcome: string;
  readonly offset?: number | undefined;
  readonly size_bytes?: number | undefined;
}

/**
 * Whether a receipt is the expected one for the step sent; refusals answer any step. For writes and runtime
 * preparations (wire 12.3 and 13.3).
 */
export function receiptViolation(
  expectedReceipt: ExpectedReceipt,
  result: { outcome: string; offset?: number | undefined; size_bytes?: number | undefined },
): Violation | undefined {
  if (result.outcome === 'rejected' || result.outcome === 'failed' || result.outcome === 'unknown')
    return undefined;
  if (result.outcome !== expectedReceipt.outcome) return violation(['outcome']);
  if ((result.offset ?? 0) !== (expectedReceipt.offset ?? 0)) return violation(['offset']);
  return (result.size_bytes ?? 0) === (expectedReceipt.size_bytes ?? 0)
    ? undefined
    : violation(['size_bytes']);
}

export type WorkspaceExportPayload =
  | { step: 'begin'; handle: string; environment_id: string }
  | { step: 'next'; offset: number }
  | { step: 'cancel' };

const isExportId = (id: string): boolean => id !== '' && fitsUtf8(id, CORRELATION_ID_BYTES);

/** `workspace_export`, Core to Runtime; one id for all frames of an export. */
export const workspaceExportPayload = z
  .strictObject({
    step: required(oneOf(['begin', 'next', 'cancel'])),
    handle: optional(text),
    environment_id: optional(text),
    offset: optional(integer),
  })
  .transform((request, context): WorkspaceExportPayload => {
    const refuse = (member: string): never => {
      context.addIssue({ code: 'custom', message: 'invalid export', path: [member] });
      return z.NEVER;
    };
    const { handle = '', environment_id = '', offset = 0 } = request;
    if (request.step === 'begin') {
      if (!isExportId(handle)) return refuse('handle');
      if (!isExportId(environment_id)) return refuse('environment_id');
      return offset === 0 ? { step: 'begin', handle, environment_id } : refuse('offset');
    }
    if (handle !== '') return refuse('handle');
    if (environment_id !== '') return refuse('environment_id');
    if (request.step === 'cancel') return offset === 0 ? { step: 'cancel' } : refuse('offset');
    return offset >= 0 && offset <= EXPORT_ARCHIVE_BYTES ? { step: 'next', offset } : refuse('offset');
  });

export const exportOutcomes = ['chunk', 'completed', 'failed', 'rejected'] as const;
export const exportFailureCodes = ['invalid_request', 'export_failed'] as const;
/** `read_unsupported` is of a later generation: read, never sent. */
export const exportRejectionCodes = ['resource_unavailable', 'read_unsupported'] as const;

/** `workspace_export_result`, Runtime to Core. `offset` is the position of the first byte of `data`. */
export const workspaceExportResultPayload = z
  .object({
    outcome: required(oneOf(exportOutcomes)),
    offset: written(integer),
    data: optional(base64Text),
    error_code: optionalOneOf([...exportFailureCodes, ...exportRejectionCodes]),
  })
  .superRefine((result, context) => {
    const path = exportResultFault(result);
    if (path) context.addIssue({ code: 'custom', message: 'inconsistent result', path: [path] });
  });
export type WorkspaceExportResultPayload = z.output<typeof workspaceExportResultPayload>;

function exportResultFault(result: {
  outcome: string;
  offset: number;
  data?: string | undefined;
  error_code?: string | undefined;
}): string | undefined {
  const code = result.error_code ?? '';
  if (result.offset < 0 || result.offset > EXPORT_ARCHIVE_BYTES) return 'offset';
  if (result.outcome === 'chunk') {
    if (!isChunk(result.data) || result.offset + base64ByteLength(result.data) > EXPORT_ARCHIVE_BYTES)
      return 'data';
    return code === '' ? undefined : 'error_code';
  }
  if (result.data) return 'data';
  if (result.outcome === 'completed') return code === '' ? undefined : 'error_code';
  if (result.outcome === 'failed')
    return exportFailureCodes.some((known) => known === code) ? undefined : 'error_code';
  if (result.offset !== 0) return 'offset';
  return exportRejectionCodes.some((known) => known === code) ? undefined : 'error_code';
}

/** Our senders reject an export with `resource_unavailable` alone. */
export const exportResultSenderRule = (result: WorkspaceExportResultPayload): string | undefined =>
  result.error_code === 'read_unsupported' ? 'error_code' : undefined;
