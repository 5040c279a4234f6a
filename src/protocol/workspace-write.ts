import * as z from 'zod';

import { base64ByteLength } from './base64.ts';
import { isApiPath, isCanonicalUuid, isSha256Text } from './ids.ts';
import { WRITE_BODY_BYTES } from './limits.ts';
import { integer, oneOf, optional, optionalOneOf, required, text } from './presence.ts';
import { base64Text, isChunk } from './transfer.ts';

/** Creation of a single file (wire 12.3) in acknowledged chunks. */

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
  offset?: number | undefined;
  size_bytes?: number | undefined;
  error_code?: string | undefined;
  reason?: string | undefined;
}): string | undefined {
  const code = result.error_code ?? '';
  if (result.size_bytes && result.outcome !== 'completed') return 'size_bytes';
  if (result.offset && (result.outcome === 'rejected' || result.outcome === 'unknown')) return 'offset';
  if (result.reason && !(result.outcome === 'rejected' && code === 'write_rejected')) return 'reason';
  if (result.outcome === 'rejected')
    return writeRejectionCodes.some((known) => known === code) ? undefined : 'error_code';
  if (result.outcome === 'unknown') return code === 'write_unconfirmed' ? undefined : 'error_code';
  return code === '' ? undefined : 'error_code';
}
