import * as z from 'zod';

import { base64ByteLength, isBase64 } from './base64.ts';
import { TRANSFER_CHUNK_BYTES } from './limits.ts';
import { violation, type Violation } from './violation.ts';

/** What the transfers in either direction share: chunk data and the receipts of their steps. */

/** Canonical base64; its decoded length is a rule of the member that holds it. */
export const base64Text = z.custom<string>((value) => typeof value === 'string' && isBase64(value), {
  params: { stage: 'decode' },
});

/** 1 to 65 536 decoded bytes. */
export const isChunk = (data: string | undefined): data is string =>
  data !== undefined && data !== '' && base64ByteLength(data) <= TRANSFER_CHUNK_BYTES;

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
