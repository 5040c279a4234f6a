import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { z } from 'zod';
import { fromNetworkError, fromStatus, permanent, transient, type Failure } from '../observe/failure.ts';
import { WIRE_VERSION } from '../protocol/version.ts';

/**
 * `POST <base>/agent-daemon/bootstrap` (machine-connection 6, runtime-behaviour 1.2). Redirects are never followed,
 * the answer is bounded, and its text never becomes part of an error: a peer chooses it.
 */
export const bootstrapLimits = {
  timeout: 10_000,
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
  /** The address stored at enrolment; the answer must name exactly it. Null: any acceptable one. */
  readonly expectedUrl: string | null;
  readonly signal?: AbortSignal;
}

export type BootstrapOutcome =
  | { readonly kind: 'ok'; readonly url: URL; readonly deviceId: string; readonly heartbeatMs: number }
  | { readonly kind: 'failed'; readonly failure: Failure };

const failed = (failure: Failure): BootstrapOutcome => ({ kind: 'failed', failure });
const badAnswer = (why: string): BootstrapOutcome =>
  failed({ class: 'attention', code: 'bad_answer', detail: why });

export async function bootstrap(request: BootstrapRequest): Promise<BootstrapOutcome> {
  // A header that cannot be sent, or an address that is none, is thrown rather than emitted.
  const raw = await post(request).catch((error: unknown): Raw => ({
    kind: 'failed',
    failure: fromNetworkError(error),
  }));
  if (raw.kind === 'failed') return raw;
  // A redirect is an answer like any other: the credential is not carried to another address.
  if (raw.status >= 300 && raw.status < 400) {
    return failed({ class: 'attention', code: 'http_status', detail: String(raw.status) });
  }
  if (raw.status < 200 || raw.status > 299) return failed(fromStatus(raw.status));
  let json: unknown;
  try {
    json = JSON.parse(raw.body);
  } catch {
    return badAnswer('not_json');
  }
  const parsed = answerSchema.safeParse(json);
  if (!parsed.success) return badAnswer('shape');
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

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

type Raw = { kind: 'body'; status: number; body: string } | { kind: 'failed'; failure: Failure };

function post(options: BootstrapRequest): Promise<Raw> {
  return new Promise((resolve) => {
    const fail = (failure: Failure): void => resolve({ kind: 'failed', failure });
    const url = new URL(`${options.coreUrl.replace(/\/$/, '')}/agent-daemon/bootstrap`);
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const body = JSON.stringify({ device_id: options.deviceId });
    const request = send(url, {
      method: 'POST',
      // One question: a connection kept for later would only be one more that can break.
      agent: false,
      timeout: bootstrapLimits.timeout,
      ...(options.signal ? { signal: options.signal } : {}),
      headers: {
        Authorization: `Bearer ${options.credential}`,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'User-Agent': options.userAgent,
      },
    });
    request.on('timeout', () => {
      fail(transient('timeout'));
      request.destroy();
    });
    request.on('error', (error) => fail(fromNetworkError(error)));
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > bootstrapLimits.bodyBytes) {
          fail({ class: 'attention', code: 'bad_answer', detail: 'too_large' });
          request.destroy();
          return;
        }
        chunks.push(chunk);
      });
      response.on('error', (error) => fail(fromNetworkError(error)));
      response.on('end', () =>
        resolve({
          kind: 'body',
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    request.end(body);
  });
}
