import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { fromNetworkError, transient, type Failure } from '../observe/failure.ts';
import type { Clock } from '../platform/clock.ts';
import { directRoute, type Network } from '../platform/network.ts';

/** One HTTP call to a machine route. Milliseconds. */
export const callTimeout = 10_000;

export interface MachineCall {
  readonly method: 'GET' | 'POST';
  /** Machine API base that ends in `/api/v1`. */
  readonly coreUrl: string;
  /** Path below it, without a leading slash; a query only where the route has one. */
  readonly path: string;
  /** Travels in the Authorization header and nowhere else. */
  readonly bearer: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Most bytes of an answer. */
  readonly cap: number;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** The way there; without one it is direct. */
  readonly network?: Network;
}

export type MachineAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  | { readonly kind: 'failed'; readonly failure: Failure };

/**
 * The one door for HTTP to Core (machine-connection 2): bounded in time as a whole and in size, no redirect followed,
 * no connection kept. What a peer says in a body of an error never becomes part of ours.
 */
export function callMachine(call: MachineCall): Promise<MachineAnswer> {
  return new Promise((resolve) => {
    let timedOut = false;
    const limit = new AbortController();
    // A request that waits for its tunnel does not hear that it was given up, so nobody waits for it either.
    const stop = (): void => {
      limit.abort();
      broken({ code: 'ABORT_ERR' });
    };
    const timer = call.clock.after(callTimeout, () => {
      timedOut = true;
      stop();
    });
    const finish = (answer: MachineAnswer): void => {
      timer.cancel();
      call.signal?.removeEventListener('abort', stop);
      resolve(answer);
    };
    const fail = (failure: Failure): void => finish({ kind: 'failed', failure });
    const broken = (error: unknown): void => fail(timedOut ? transient('timeout') : fromNetworkError(error));
    const go = async (): Promise<void> => {
      const url = new URL(`${call.coreUrl.replace(/\/$/, '')}/${call.path}`);
      const route = (await call.network?.routeFor(url, limit.signal)) ?? directRoute;
      if (limit.signal.aborted) return;
      const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
      const body = call.body === undefined ? '' : JSON.stringify(call.body);
      const request = send(url, {
        method: call.method,
        // One question: a connection kept for later would only be one more that can break.
        agent: route.agent,
        ...route.tls,
        signal: limit.signal,
        headers: {
          Authorization: `Bearer ${call.bearer}`,
          'User-Agent': call.userAgent,
          ...(call.method === 'POST'
            ? { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }
            : {}),
        },
      });
      request.on('error', broken);
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > call.cap) {
            fail({ class: 'attention', code: 'bad_answer', detail: 'too_large' });
            request.destroy();
            return;
          }
          chunks.push(chunk);
        });
        response.on('error', broken);
        response.on('end', () =>
          isPortal(call.coreUrl, response)
            ? fail({ class: 'attention', code: 'captive_portal', detail: null })
            : finish({
                kind: 'answer',
                status: response.statusCode ?? 0,
                body: Buffer.concat(chunks).toString('utf8'),
              }),
        );
      });
      request.end(body === '' ? undefined : body);
    };
    call.signal?.addEventListener('abort', stop, { once: true });
    if (call.signal?.aborted) return stop();
    // A header that cannot be sent, or an address that is none, is thrown rather than emitted.
    go().catch(broken);
  });
}

/** A page where an answer of Core should be, or a way to another host: a network that wants to be signed in to first. */
function isPortal(coreUrl: string, response: IncomingMessage): boolean {
  const status = response.statusCode ?? 0;
  if (status >= 300 && status < 400 && response.headers.location !== undefined) {
    try {
      const target = new URL(response.headers.location, coreUrl);
      return target.hostname !== new URL(coreUrl).hostname;
    } catch {
      return false;
    }
  }
  const page = /^\s*text\/html\b/i.test(response.headers['content-type'] ?? '');
  return page && (status === 511 || (status >= 200 && status < 300));
}

export const badAnswer = (why: string): Failure => ({ class: 'attention', code: 'bad_answer', detail: why });

/** A redirect is an answer like any other: no credential is carried to another address. */
export const redirected = (status: number): Failure => ({
  class: 'attention',
  code: 'http_status',
  detail: String(status),
});
