import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { isCanonicalUuid } from '../protocol/ids.ts';
import { API_PREFIX, readBody } from './http-routes.ts';
import type { MachineAuthority, MachineResult } from './machine-authority.ts';

/** The routes of an enrolment (machine-connection 3 and 5). Refusals of `enroll` and `connection` are plain text. */
export interface EnrolmentContext {
  readonly authority: MachineAuthority;
  readonly socketUrl: string;
  /** Whether a live socket of this device authenticated with this credential. */
  isConnected(deviceId: string, digest: Buffer): boolean;
}

const enrollBytes = 4_096;
const enrollBody = z.strictObject({ environment_id: z.string().refine(isCanonicalUuid) });
const claimBody = z.strictObject({ executor_token: z.string() });
const route = (name: string): string => `${API_PREFIX}/agent-daemon/${name}`;

/** Answers one of these routes; false when the path is none of them. */
export async function answerEnrolment(
  context: EnrolmentContext,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<boolean> {
  const { authority } = context;
  const bearer = bearerOf(request);
  switch (url.pathname) {
    case route('installation'):
      await readBody(request);
      if (wrongMethod(request, response, 'POST')) return true;
      writeJson(response, authority.installation(bearer, context.socketUrl));
      return true;
    case route('installation/claim'): {
      const body = claimBody.safeParse(parse(await readBody(request)));
      if (wrongMethod(request, response, 'POST')) return true;
      const claimed = authority.claim(bearer, body.success ? body.data.executor_token : null);
      if (claimed.ok) response.writeHead(204, noStore).end();
      else writeJson(response, claimed);
      return true;
    }
    case route('enroll'): {
      const text = await readBody(request);
      if (wrongMethod(request, response, 'POST')) return true;
      const body = enrollBody.safeParse(parse(text));
      if (!body.success || url.search !== '' || Buffer.byteLength(text) > enrollBytes) plain(response, 400);
      else writePlain(response, authority.enroll(body.data.environment_id, bearer));
      return true;
    }
    case route('connection'): {
      if (wrongMethod(request, response, 'GET')) return true;
      const [id, ...more] = url.searchParams.getAll('environment_id');
      if (id === undefined || more.length > 0 || [...url.searchParams].length !== 1) {
        plain(response, 400);
        return true;
      }
      const bound = authority.boundDevice(id, bearer);
      if (!bound.ok) writePlain(response, bound);
      else {
        const { deviceId, digest } = bound.value;
        const connected = deviceId !== null && context.isConnected(deviceId, digest);
        const status = connected ? 'connected' : 'disconnected';
        writePlain(response, { ok: true, value: { environment_id: id, status } });
      }
      return true;
    }
    default:
      return false;
  }
}

const noStore = { 'cache-control': 'no-store' };

function writeJson(
  response: ServerResponse,
  result: MachineResult<Record<string, string>> | MachineResult<null>,
): void {
  const body = result.ok ? result.value : { error: result.code ?? 'refused', detail: 'This was refused.' };
  response.writeHead(result.ok ? 200 : result.status, { ...noStore, 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function writePlain(response: ServerResponse, result: MachineResult<Record<string, string>>): void {
  if (!result.ok) return plain(response, result.status);
  response.writeHead(200, { ...noStore, 'content-type': 'application/json' });
  response.end(JSON.stringify(result.value));
}

function plain(response: ServerResponse, status: number): void {
  response.writeHead(status, { ...noStore, 'content-type': 'text/plain; charset=utf-8' });
  response.end('refused\n');
}

function wrongMethod(request: IncomingMessage, response: ServerResponse, method: 'GET' | 'POST'): boolean {
  if (request.method === method) return false;
  response.writeHead(405, { ...noStore, allow: method, 'content-type': 'text/plain' });
  response.end('refused\n');
  return true;
}

/** The scheme in any case here, and exactly two words. */
function bearerOf(request: IncomingMessage): string {
  const [scheme, credential, ...more] = (request.headers.authorization ?? '').split(' ');
  return scheme?.toLowerCase() === 'bearer' && more.length === 0 ? (credential ?? '') : '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
