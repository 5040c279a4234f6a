/**
 * W3C `traceparent` of an Envelope (wire 2.1): diagnostic correlation, never an identity and never an error. What is
 * missing, oversized or invalid reads as "no trace"; the receiver then starts a local one.
 */
export interface Trace {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

const SHAPE = /^00-([0-9a-f]{32})-([0-9a-f]{16})-(..)$/;

export function parseTrace(text: string | undefined): Trace | undefined {
  if (text === undefined || text.length > 128) return undefined;
  const match = SHAPE.exec(text.trim());
  const [, traceId, spanId, flags] = match ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: flags === '01' || flags === '03' };
}

export const formatTrace = (trace: Trace): string =>
  `00-${trace.traceId}-${trace.spanId}-${trace.sampled ? '01' : '00'}`;
