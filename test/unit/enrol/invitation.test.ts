import { describe, expect, test } from 'vitest';
import { invitationOf, readGrant, readInvitation } from '../../../src/enrol/invitation.ts';

const environmentId = '58e2e6ff-46cf-477f-8705-f19c41923382';
const grantFor = (id: string): string =>
  `${Buffer.from(
    JSON.stringify({ principal: 'p', environment_id: id, version: '2026.11.1', expires_at: 1_800_000_000 }),
  ).toString('base64url')}.c2lnbmF0dXJlLW9mLWNvcmU_x-y`;
const grant = grantFor(environmentId);
const base = 'https://core.example.com/api/v1/agent-daemon';

describe('an invitation is found in', () => {
  test.each([
    [
      'a POSIX install command',
      `curl -fsSL ${base}/install/2026.11.1/bootstrap.sh | sh -s -- --endpoint "${base}/installation" --grant '${grant}'`,
    ],
    [
      'variables before a command',
      `AGENT_ENDPOINT=${base}/installation AGENT_GRANT=${grant} sh -c "$(curl -fsSL ${base}/install/2026.11.1/bootstrap.sh)"`,
    ],
    [
      'a PowerShell command',
      `$env:GRANT='${grant}'; irm ${base}/install/2026.11.1/bootstrap.ps1 | iex; Install-Runtime -Endpoint '${base}/installation'`,
    ],
    ['the address of a script and a code', `${base}/install/2026.11.1/bootstrap.sh ${grant}`],
    [
      'a link',
      `agent-runtime://enroll?endpoint=${encodeURIComponent(`${base}/installation`)}&grant=${grant}`,
    ],
    [
      'a link in a sentence',
      `Open <agent-runtime://enroll?grant=${grant}&endpoint=${encodeURIComponent(base)}> here.`,
    ],
    ['a JSON file', JSON.stringify({ endpoint: `${base}/installation`, grant }, null, 2)],
    ['two lines', `${base}/installation\n${grant}\n`],
    [
      'a command with links to other pages',
      `# see https://docs.example.com and https://example.com/help\nrun ${base}/installation ${grant}`,
    ],
  ])('%s', (_name, text) => {
    expect(readInvitation(text)).toEqual({
      kind: 'ok',
      invitation: {
        address: {
          remoteUrl: 'wss://core.example.com/api/v1/agent-daemon/ws',
          coreUrl: 'https://core.example.com/api/v1',
          host: 'core.example.com',
        },
        grant,
        environmentId,
        expiresAt: 1_800_000_000_000,
      },
    });
  });
});

describe('a text is refused with its reason', () => {
  const other = grantFor('92ea7b07-1c1f-4eb1-b222-b335f2123ed8');
  test.each([
    ['nothing', '', 'no_endpoint'],
    ['a code alone', grant, 'no_endpoint'],
    ['an address alone', `${base}/installation`, 'no_grant'],
    ['two Cores', `${base} https://other.example.com/api/v1 ${grant}`, 'several_endpoints'],
    ['two codes', `${base} ${grant} ${other}`, 'several_grants'],
    ['plain text to another machine', `http://core.example.com/api/v1 ${grant}`, 'bad_endpoint'],
    ['another page of a Core', `https://core.example.com/docs ${grant}`, 'no_endpoint'],
    ['a word that only looks like a code', `${base} aGVsbG8gd29ybGQgaGVsbG8.c2lnbmF0dXJl`, 'no_grant'],
    ['far too much', 'x'.repeat(70_000), 'too_long'],
    ['a link without a code', `agent-runtime://enroll?endpoint=${encodeURIComponent(base)}`, 'no_grant'],
    ['a link without an endpoint', `agent-runtime://enroll?grant=${grant}`, 'no_endpoint'],
    [
      'a link to plain text',
      `agent-runtime://enroll?endpoint=http%3A%2F%2Fx.example.com&grant=${grant}`,
      'bad_endpoint',
    ],
    [
      'a link with two codes',
      `agent-runtime://enroll?endpoint=${encodeURIComponent(base)}&grant=${grant}&grant=${other}`,
      'several_grants',
    ],
    [
      'two links',
      ['core', 'other']
        .map((host) => `agent-runtime://enroll?endpoint=https%3A%2F%2F${host}.example.com&grant=${grant}`)
        .join('\n'),
      'several_endpoints',
    ],
    [
      'a link and the command of another Core',
      `agent-runtime://enroll?endpoint=${encodeURIComponent(base)}&grant=${grant} or https://other.example.com/api/v1`,
      'several_endpoints',
    ],
    [
      'a link and another code',
      `agent-runtime://enroll?endpoint=${encodeURIComponent(base)}&grant=${grant} or ${other}`,
      'several_grants',
    ],
  ])('%s', (_name, text, fault) => {
    expect(readInvitation(text)).toEqual({ kind: 'fault', fault });
  });
});

test('the two values apart: the grant is taken as it is, bounded, and never across lines', () => {
  expect(invitationOf(base, 'opaque-grant.signature')).toMatchObject({
    kind: 'ok',
    invitation: { grant: 'opaque-grant.signature', environmentId: null, expiresAt: null },
  });
  expect(invitationOf(base, 'a'.repeat(4_097))).toEqual({ kind: 'fault', fault: 'bad_grant' });
  expect(invitationOf(base, 'one two')).toEqual({ kind: 'fault', fault: 'bad_grant' });
  expect(invitationOf(base, ' \n')).toEqual({ kind: 'fault', fault: 'no_grant' });
  expect(readGrant(`${grant}\n`)).toBe(grant);
  expect(readGrant(`grant: ${grant}`)).toBe(grant);
  expect(readGrant('some words')).toBe('');
});
