import * as z from 'zod';
import { fromStatus, permanent, transient, type Failure } from '../observe/failure.ts';
import type { Clock } from '../platform/clock.ts';
import type { Network } from '../platform/network.ts';
import { isAbsoluteLocalPath, isCanonicalUuid } from '../protocol/ids.ts';
import { WIRE_VERSION } from '../protocol/version.ts';
import { parseRemoteUrl } from './addresses.ts';
import { badAnswer, callMachine, redirected, type MachineAnswer } from './machine-http.ts';

/** The calls of an enrolment (machine-connection 5). Every answer is checked against what was asked before it counts. */
export const answerCaps = { installation: 16 * 1024, enroll: 16 * 1024, connection: 4 * 1024 } as const;

/** What a call needs beside what it says. */
export interface CallPorts {
  readonly clock: Clock;
  readonly userAgent: string;
  readonly network?: Network;
  readonly signal?: AbortSignal;
}

/** Why an enrolment got no further: of the connection, or of the grant. */
export type EnrolFailure =
  | { readonly of: 'connection'; readonly failure: Failure }
  | {
      readonly of: 'grant';
      readonly code: 'invitation_invalid' | 'key_exists' | 'installers_missing' | 'secret_refused';
    };

type Result<T> =
  { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'failed'; readonly why: EnrolFailure };
const failed = (failure: Failure): { kind: 'failed'; why: EnrolFailure } => ({
  kind: 'failed',
  why: { of: 'connection', failure },
});

const uuid = z.string().refine(isCanonicalUuid);
const installationSchema = z.object({
  version: z.string().max(256),
  protocol_version: z.string(),
  environment_id: uuid,
  remote_url: z.string(),
  workspace_directory: z.string().refine(isAbsoluteLocalPath),
  harness: z.string().max(256).optional(),
});

/** The frozen binding of an invitation, as Core has it. */
export interface Installation {
  readonly environmentId: string;
  readonly remoteUrl: string;
  readonly workspaceDirectory: string;
  readonly coreVersion: string;
  readonly harness: string | null;
}

/** `POST agent-daemon/installation`: reads what the grant is for. Nothing changes anywhere. */
export async function readInstallation(
  request: { coreUrl: string; grant: string; environmentId: string | null },
  ports: CallPorts,
): Promise<Result<Installation>> {
  const raw = await callMachine({
    ...ports,
    method: 'POST',
    coreUrl: request.coreUrl,
    path: 'agent-daemon/installation',
    bearer: request.grant,
    cap: answerCaps.installation,
  });
  const body = grantAnswer(raw);
  if (body.kind === 'failed') return body;
  const parsed = installationSchema.safeParse(json(body.value));
  if (!parsed.success) return failed(badAnswer('shape'));
  const answer = parsed.data;
  if (answer.protocol_version !== WIRE_VERSION) {
    const shown = /^[\w.+-]{1,64}$/.test(answer.protocol_version) ? answer.protocol_version : null;
    return failed(permanent('incompatible_version', shown));
  }
  // Same origin, same path: the secret is for nobody else than who was asked.
  if (parseRemoteUrl(answer.remote_url)?.coreUrl !== request.coreUrl)
    return failed(permanent('binding_mismatch', 'address'));
  if (request.environmentId !== null && answer.environment_id !== request.environmentId) {
    return failed(permanent('binding_mismatch', 'environment'));
  }
  return {
    kind: 'ok',
    value: {
      environmentId: answer.environment_id,
      remoteUrl: answer.remote_url,
      workspaceDirectory: answer.workspace_directory,
      coreVersion: answer.version,
      harness: answer.harness ?? null,
    },
  };
}

/** `POST agent-daemon/installation/claim`: makes our secret the Environment's key. A repeat with the same one is the same. */
export async function claimInstallation(
  request: { coreUrl: string; grant: string; secret: string },
  ports: CallPorts,
): Promise<Result<null>> {
  const raw = await callMachine({
    ...ports,
    method: 'POST',
    coreUrl: request.coreUrl,
    path: 'agent-daemon/installation/claim',
    bearer: request.grant,
    body: { executor_token: request.secret },
    cap: answerCaps.installation,
  });
  const answer = grantAnswer(raw);
  return answer.kind === 'failed' ? answer : { kind: 'ok', value: null };
}

const enrollmentSchema = z.strictObject({
  device_id: uuid,
  session_id: uuid,
  environment_id: uuid,
  workspace_directory: z.string().refine((path) => isAbsoluteLocalPath(path) && !isRoot(path)),
});
export type Enrollment = z.output<typeof enrollmentSchema>;

/**
 * `POST agent-daemon/enroll`: binds one device to the Environment (machine-connection 5.3). A member that does not
 * belong there, or another identity than was asked for, makes the answer none (M3). Bodies of refusals are not read.
 */
export async function enroll(
  request: { coreUrl: string; environmentId: string; secret: string },
  ports: CallPorts,
): Promise<{ kind: 'ok'; value: Enrollment } | { kind: 'failed'; failure: Failure }> {
  const raw = await callMachine({
    ...ports,
    method: 'POST',
    coreUrl: request.coreUrl,
    path: 'agent-daemon/enroll',
    bearer: request.secret,
    body: { environment_id: request.environmentId },
    cap: answerCaps.enroll,
  });
  if (raw.kind === 'failed') return raw;
  const refused = refusal(raw.status);
  if (refused) return { kind: 'failed', failure: refused };
  const parsed = enrollmentSchema.safeParse(json(raw.body));
  if (!parsed.success) return { kind: 'failed', failure: badAnswer('shape') };
  if (parsed.data.environment_id !== request.environmentId) {
    return { kind: 'failed', failure: permanent('binding_mismatch', 'environment') };
  }
  return { kind: 'ok', value: parsed.data };
}

const connectionSchema = z.object({ environment_id: uuid, status: z.enum(['connected', 'disconnected']) });

/** `GET agent-daemon/connection`: whether Core sees this exact key connected (machine-connection 5.4). A pure question. */
export async function askConnected(
  request: { coreUrl: string; environmentId: string; secret: string },
  ports: CallPorts,
): Promise<{ kind: 'ok'; connected: boolean } | { kind: 'failed'; failure: Failure }> {
  const raw = await callMachine({
    ...ports,
    method: 'GET',
    coreUrl: request.coreUrl,
    path: `agent-daemon/connection?environment_id=${request.environmentId}`,
    bearer: request.secret,
    cap: answerCaps.connection,
  });
  if (raw.kind === 'failed') return raw;
  const refused = refusal(raw.status);
  if (refused) return { kind: 'failed', failure: refused };
  const parsed = connectionSchema.safeParse(json(raw.body));
  if (!parsed.success || parsed.data.environment_id !== request.environmentId) {
    return { kind: 'failed', failure: badAnswer('shape') };
  }
  return { kind: 'ok', connected: parsed.data.status === 'connected' };
}

/** Status of `enroll` and `connection`: only the number counts. */
function refusal(status: number): Failure | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return redirected(status);
  return status === 409 ? permanent('other_key_bound', '409') : fromStatus(status);
}

/** Codes that Core writes for its grant routes. Anything else in a body is text of a peer and is not read. */
const knownCodes = ['installation_unavailable', 'credential_storage_unavailable'] as const;

function grantAnswer(raw: MachineAnswer): Result<string> {
  if (raw.kind === 'failed') return failed(raw.failure);
  const { status, body } = raw;
  if (status >= 200 && status < 300) return { kind: 'ok', value: body };
  if (status >= 300 && status < 400) return failed(redirected(status));
  const grant = (
    code: Extract<EnrolFailure, { of: 'grant' }>['code'],
  ): { kind: 'failed'; why: EnrolFailure } => ({
    kind: 'failed',
    why: { of: 'grant', code },
  });
  if (status === 400) return grant('secret_refused');
  if (status === 401 || status === 403) return grant('invitation_invalid');
  if (status === 409) return grant('key_exists');
  if (status === 503 && knownCodes.some((code) => body.includes(`"${code}"`)))
    return grant('installers_missing');
  return failed(status === 503 ? transient('http_status', '503') : fromStatus(status));
}

function json(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const isRoot = (path: string): boolean => /^(?:\/|[A-Za-z]:\\|\\\\[^\\]+\\[^\\]+\\?)$/.test(path);
