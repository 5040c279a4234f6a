import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import * as z from 'zod';

import { isSameWireVersion, WIRE_VERSION } from '../protocol/version.ts';

/** The machine routes of Core (machine-connection 6 and 7) below `/api/v1`. */
export const API_PREFIX = '/api/v1';
export const BOOTSTRAP_PATH = `${API_PREFIX}/agent-daemon/bootstrap`;
export const DEVICE_STATUS_PATH = `${API_PREFIX}/agent-daemon/device-status`;
export const SOCKET_PATH = `${API_PREFIX}/agent-daemon/ws`;

const BODY_BYTES = 16_384;

export type Authority = 'ok' | 'unknown_device' | 'bad_credential' | 'wrong_runtime_type';

export interface RouteContext {
  /** Compares in constant time; a device that is not known costs the same. */
  authenticate(deviceId: string, credential: string): Authority;
  isOnline(deviceId: string): boolean;
  readonly heartbeatSeconds: number;
  socketUrl(): string;
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
  /** Routes that not every Core has: true when one of them answered. */
  readonly more?: (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<boolean>;
}

/** A refusal as every machine route writes it. */
export interface RouteError {
  readonly status: number;
  readonly error: string;
  readonly detail: string;
}

const details: Readonly<Record<string, string>> = {
  bad_json: 'The body is not the expected JSON object.',
  missing_device_id: 'A device id is needed.',
  missing_params: 'A device id, a version and a bearer credential are needed.',
  missing_bearer: 'A bearer credential is needed.',
  unknown_device: 'This device is not known here.',
  bad_credential: 'The credential does not belong to this device.',
  wrong_runtime_type: 'The credential belongs to another kind of device.',
  method_not_allowed: 'This route takes another method.',
  incompatible_version: `This Core speaks wire version ${WIRE_VERSION} and nothing else.`,
  not_found: 'There is no such route.',
};

export const routeError = (status: number, error: string): RouteError => ({
  status,
  error,
  detail: details[error] ?? error,
});

/** Answers one plain HTTP request. */
export async function answerRequest(
  context: RouteContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (await context.intercept?.(request, response)) return;
  const url = urlOf(request);
  if (url && (await context.more?.(request, response, url))) return;
  const result =
    url?.pathname === BOOTSTRAP_PATH
      ? await bootstrap(context, request)
      : url?.pathname === DEVICE_STATUS_PATH
        ? deviceStatus(context, request, url)
        : routeError(404, 'not_found');
  const refused = 'status' in result;
  response.writeHead(refused ? result.status : 200, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
  });
  response.end(JSON.stringify(refused ? { error: result.error, detail: result.detail } : result.body));
}

interface Answer {
  readonly body: Readonly<Record<string, unknown>>;
}

async function bootstrap(context: RouteContext, request: IncomingMessage): Promise<Answer | RouteError> {
  if (request.method !== 'POST') return routeError(405, 'method_not_allowed');
  const body = bootstrapBody.safeParse(parseJson(await readBody(request)));
  if (!body.success) return routeError(400, 'bad_json');
  const deviceId = body.data.device_id ?? '';
  const refused = authorize(context, request, deviceId);
  if (refused) return refused;
  return {
    body: {
      device_id: deviceId,
      workspace_id: 'local',
      ws_url: context.socketUrl(),
      heartbeat_seconds: context.heartbeatSeconds,
      protocol_version: WIRE_VERSION,
    },
  };
}

const bootstrapBody = z.object({ device_id: z.string().nullish() });

function deviceStatus(context: RouteContext, request: IncomingMessage, url: URL): Answer | RouteError {
  if (request.method !== 'GET') return routeError(405, 'method_not_allowed');
  const deviceId = url.searchParams.get('device_id') ?? '';
  const refused = authorize(context, request, deviceId);
  if (refused) return refused;
  return { body: { device_id: deviceId, online: context.isOnline(deviceId), owner: null } };
}

function authorize(
  context: RouteContext,
  request: IncomingMessage,
  deviceId: string,
): RouteError | undefined {
  if (deviceId === '') return routeError(400, 'missing_device_id');
  const credential = bearerOf(request);
  if (credential === undefined) return routeError(401, 'missing_bearer');
  return authorityError(context.authenticate(deviceId, credential));
}

const authorityError = (authority: Authority): RouteError | undefined =>
  authority === 'ok' ? undefined : routeError(authority === 'wrong_runtime_type' ? 403 : 401, authority);

export type UpgradeDecision = { readonly deviceId: string } | RouteError;

/** Core's checks at the upgrade, in order: parameters, version, credential. */
export function judgeUpgrade(
  context: Pick<RouteContext, 'authenticate'>,
  request: IncomingMessage,
): UpgradeDecision {
  const url = urlOf(request);
  if (url?.pathname !== SOCKET_PATH) return routeError(404, 'not_found');
  const deviceId = url.searchParams.get('device_id') ?? '';
  const version = url.searchParams.get('version') ?? '';
  const credential = bearerOf(request);
  if (deviceId === '' || version === '' || credential === undefined) return routeError(400, 'missing_params');
  if (!isSameWireVersion(version)) return routeError(426, 'incompatible_version');
  return authorityError(context.authenticate(deviceId, credential)) ?? { deviceId };
}

/** Ends an upgrade with a refusal; the socket was never a WebSocket. */
export function refuseUpgrade(socket: Duplex, refusal: RouteError): void {
  const body = JSON.stringify({ error: refusal.error, detail: refusal.detail });
  socket.on('error', () => undefined);
  socket.end(
    [
      `HTTP/1.1 ${refusal.status} Refused`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

/** The header must start with `Bearer `; what follows is trimmed and must not be empty. */
function bearerOf(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization ?? '';
  const credential = header.startsWith('Bearer ') ? header.slice('Bearer '.length).trim() : '';
  return credential === '' ? undefined : credential;
}

function urlOf(request: IncomingMessage): URL | undefined {
  try {
    return new URL(request.url ?? '/', 'http://core.invalid');
  } catch {
    return undefined;
  }
}

/** The body as text, or an empty text when it is too large or broke off. */
export function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= BODY_BYTES) chunks.push(chunk);
    });
    request.on('end', () => resolve(bytes <= BODY_BYTES ? Buffer.concat(chunks).toString('utf8') : ''));
    request.on('error', () => resolve(''));
    request.on('close', () => resolve(''));
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
