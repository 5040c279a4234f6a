import * as z from 'zod';
import { parseEndpoint, type CoreAddress } from './addresses.ts';

/**
 * An invitation: an installation endpoint and a grant (machine-connection 4, 5.1). People get it as an install command
 * for a shell, as a link, or as a file; all they have in common is that both values stand in the text. The grant is
 * kept in memory alone and is never repeated in a message.
 */
export interface Invitation {
  readonly address: CoreAddress;
  readonly grant: string;
  /** What the grant says of itself, for display and for a comparison with Core's answer; null where it cannot be read. */
  readonly environmentId: string | null;
  readonly expiresAt: number | null;
}

export type InvitationFault =
  | 'too_long'
  | 'no_endpoint'
  | 'bad_endpoint'
  | 'several_endpoints'
  | 'no_grant'
  | 'bad_grant'
  | 'several_grants';

export type InvitationResult =
  | { readonly kind: 'ok'; readonly invitation: Invitation }
  | { readonly kind: 'fault'; readonly fault: InvitationFault };

export const invitationLimits = { text: 64 * 1024, grant: 4_096 } as const;

const fault = (name: InvitationFault): InvitationResult => ({ kind: 'fault', fault: name });
const linkForm = /agent-runtime:\/\/enroll\/?\?[^\s"'<>]+/g;
const grantForm = /^[\x21-\x7e]+$/;
const claimsSchema = z.object({
  environment_id: z.string(),
  expires_at: z.union([z.number(), z.string()]).optional(),
});

/** The two values as somebody names them apart. */
export function invitationOf(endpoint: string, grant: string): InvitationResult {
  const address = parseEndpoint(endpoint.trim());
  if (!address) return fault('bad_endpoint');
  const bare = grant.trim();
  if (bare === '') return fault('no_grant');
  if (bare.length > invitationLimits.grant || !grantForm.test(bare)) return fault('bad_grant');
  const claims = claimsOf(bare);
  return {
    kind: 'ok',
    invitation: {
      address,
      grant: bare,
      environmentId: claims?.environment_id ?? null,
      expiresAt: expiryOf(claims?.expires_at),
    },
  };
}

/** An install command for a POSIX shell or PowerShell, an `agent-runtime://enroll?...` link, or the text of a file. */
export function readInvitation(text: string): InvitationResult {
  if (text.length > invitationLimits.text) return fault('too_long');
  const [link, ...otherLinks] = new Set(text.match(linkForm) ?? []);
  if (link !== undefined) return otherLinks.length > 0 ? fault('several_endpoints') : fromLink(link, text);
  const { endpoints, unusable } = endpointsIn(text);
  const grants = grantsIn(text);
  const [address] = endpoints.values();
  const [grant] = grants;
  if (endpoints.size > 1) return fault('several_endpoints');
  if (grants.size > 1) return fault('several_grants');
  if (!address) return fault(unusable ? 'bad_endpoint' : 'no_endpoint');
  if (grant === undefined) return fault('no_grant');
  return invitationOf(address.coreUrl, grant);
}

/** A text that holds the grant alone, or among other things that are none. */
export function readGrant(text: string): string {
  const bare = text.trim();
  if (grantForm.test(bare)) return bare;
  const [found, more] = [...grantsIn(text)];
  return found === undefined || more !== undefined ? '' : found;
}

/** A text that names another Core or grant beside its link is as ambiguous as a command that does. */
function fromLink(link: string, text: string): InvitationResult {
  const given = new URL(link).searchParams;
  const [endpoint, second] = given.getAll('endpoint');
  const [grant, more] = given.getAll('grant');
  if (second !== undefined) return fault('several_endpoints');
  if (more !== undefined) return fault('several_grants');
  if (endpoint === undefined) return fault('no_endpoint');
  const result = invitationOf(endpoint, grant ?? '');
  if (result.kind === 'fault') return result;
  const { address, grant: own } = result.invitation;
  const around = text.replaceAll(link, ' ');
  const others = [...endpointsIn(around).named.keys()].some((url) => url !== address.coreUrl);
  if (others) return fault('several_endpoints');
  return [...grantsIn(around)].some((other) => other !== own) ? fault('several_grants') : result;
}

/**
 * Addresses of a Core: those that name a machine route, or, where there is none, bare origins (a command may carry
 * other links). `unusable`: one names a machine route in a way that must not be used.
 */
function endpointsIn(text: string): {
  readonly endpoints: ReadonlyMap<string, CoreAddress>;
  readonly named: ReadonlyMap<string, CoreAddress>;
  readonly unusable: boolean;
} {
  const named = new Map<string, CoreAddress>();
  const bare = new Map<string, CoreAddress>();
  let unusable = false;
  for (const [found] of text.matchAll(/https?:\/\/[^\s"'`<>|;(){}[\],\\]+/g)) {
    const url = withoutScript(found);
    const route = url.includes('/api/v1');
    const address = parseEndpoint(url);
    if (address) (route ? named : bare).set(address.coreUrl, address);
    else unusable ||= route;
  }
  return { endpoints: named.size > 0 ? named : bare, named, unusable };
}

/** The address of an install script stands for the Core that serves it. */
const withoutScript = (url: string): string =>
  url.replace(/\/install\/[\w.+-]+\/[\w.+-]+$/, '').replace(/\.+$/, '');

function grantsIn(text: string): Set<string> {
  const found = new Set<string>();
  for (const [candidate] of text.matchAll(
    /[A-Za-z0-9_-]{16,}={0,2}\.[A-Za-z0-9_~+/-]+(?:[.=][A-Za-z0-9_~+/-]*)*/g,
  )) {
    if (candidate.length <= invitationLimits.grant && claimsOf(candidate)) found.add(candidate);
  }
  return found;
}

function claimsOf(grant: string): z.output<typeof claimsSchema> | null {
  try {
    const json: unknown = JSON.parse(Buffer.from(grant.split('.')[0] ?? '', 'base64url').toString('utf8'));
    const parsed = claimsSchema.safeParse(json);
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** Unix seconds, as Core writes times to the laptop, or ISO text; as Unix milliseconds. */
function expiryOf(value: string | number | undefined): number | null {
  if (value === undefined) return null;
  const at = typeof value === 'number' ? value * 1_000 : Date.parse(value);
  return Number.isFinite(at) && at > 0 && at < 8.64e15 ? at : null;
}
