import * as z from 'zod';
import { fromStatus, permanent, type Failure } from '../observe/failure.ts';
import type { Clock } from '../platform/clock.ts';
import type { Network } from '../platform/network.ts';
import { WIRE_VERSION } from '../protocol/version.ts';
import { isLoopback } from './addresses.ts';
import { badAnswer, callMachine, redirected } from './machine-http.ts';

/**
 * `POST <base>/agent-daemon/bootstrap` (machine-connection 6, runtime-behaviour 1.2). Redirects are never followed,
 * the answer is bounded, and its text never becomes part of an error: a peer chooses it.
 */
export const bootstrapLimits = {
  bodyBytes: 64 * 1024,
  defaultHeartbeatSeconds: 15,
  /** Core gives up after 60 s of silence, whatever interval it named. */
  mostHeartbeatSeconds: 50,
} as const;

const answerSchema = z.object({
  device_id: z.string().min(1),
  workspace_id: z.string().optional(),
  ws_url: z.string().default(''),
  heartbeat_seconds: z.number().default(0),
  protocol_version: z.string(),
});

export interface BootstrapRequest {
  /** Machine API base that ends in `/api/v1`. */
  readonly coreUrl: string;
  readonly deviceId: string;
  readonly credential: string;
  readonly userAgent: string;
  readonly clock: Clock;
  /** The address stored at enrolment; the answer must name exactly it. Null: any acceptable one. */
  readonly expectedUrl: string | null;
  readonly signal?: AbortSignal;
  readonly network?: Network;
}

export type BootstrapOutcome =
  | { readonly kind: 'ok'; readonly url: URL; readonly deviceId: string; readonly heartbeatMs: number }
  | { readonly kind: 'failed'; readonly failure: Failure };

const failed = (failure: Failure): BootstrapOutcome => ({ kind: 'failed', failure });

export async function bootstrap(request: BootstrapRequest): Promise<BootstrapOutcome> {
  const raw = await callMachine({
    method: 'POST',
    coreUrl: request.coreUrl,
    path: 'agent-daemon/bootstrap',
    bearer: request.credential,
    body: { device_id: request.deviceId },
    cap: bootstrapLimits.bodyBytes,
    userAgent: request.userAgent,
    clock: request.clock,
    ...(request.signal ? { signal: request.signal } : {}),
    ...(request.network ? { network: request.network } : {}),
  });
  if (raw.kind === 'failed') return raw;
  if (raw.status >= 300 && raw.status < 400) return failed(redirected(raw.status));
  if (raw.status < 200 || raw.status > 299) return failed(fromStatus(raw.status));
  let json: unknown;
  try {
    json = JSON.parse(raw.body);
  } catch {
    return failed(badAnswer('not_json'));
  }
  const parsed = answerSchema.safeParse(json);
  if (!parsed.success) return failed(badAnswer('shape'));
  const answer = parsed.data;
  if (answer.protocol_version !== WIRE_VERSION) {
    const shown = /^[\w.+-]{1,64}$/.test(answer.protocol_version) ? answer.protocol_version : null;
    return failed(permanent('incompatible_version', shown));
  }
  if (answer.device_id !== request.deviceId) return failed(permanent('binding_mismatch', 'device'));
  const url = connectionUrl(request.coreUrl, answer.ws_url);
  if (!url || (request.expectedUrl !== null && answer.ws_url !== request.expectedUrl)) {
    return failed(permanent('binding_mismatch', 'address'));
  }
  const named =
    answer.heartbeat_seconds > 0 ? answer.heartbeat_seconds : bootstrapLimits.defaultHeartbeatSeconds;
  const seconds = Math.min(named, bootstrapLimits.mostHeartbeatSeconds);
  return { kind: 'ok', deviceId: answer.device_id, url, heartbeatMs: seconds * 1_000 };
}

/** The URL to dial, or null when Core named one that must not be used (machine-connection 6). */
export function connectionUrl(coreUrl: string, wsUrl: string): URL | null {
  try {
    const core = new URL(coreUrl);
    if (wsUrl === '') {
      const derived = new URL(core);
      derived.protocol = core.protocol === 'https:' ? 'wss:' : 'ws:';
      derived.pathname = `${core.pathname.replace(/\/$/, '')}/agent-daemon/ws`;
      return derived;
    }
    const url = new URL(wsUrl);
    if (url.username !== '' || url.password !== '' || url.hash !== '' || wsUrl.includes('#')) return null;
    if (url.protocol === 'wss:') return url;
    return url.protocol === 'ws:' && isLoopback(url.hostname) && core.protocol === 'http:' ? url : null;
  } catch {
    return null;
  }
}
