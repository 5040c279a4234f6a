import * as z from 'zod';

import { base64ByteLength } from './base64.ts';
import { CORRELATION_ID_BYTES, EXPORT_ARCHIVE_BYTES } from './limits.ts';
import { integer, oneOf, optional, optionalOneOf, required, text, written } from './presence.ts';
import { base64Text, isChunk } from './transfer.ts';
import { fitsUtf8 } from './utf8.ts';

/** Export of the folder `outputs` (wire 12.4): Core asks for each chunk; all frames of an export share one id. */

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
