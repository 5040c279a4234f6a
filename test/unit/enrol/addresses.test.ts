import { describe, expect, test } from 'vitest';
import { parseEndpoint, parseRemoteUrl } from '../../../src/enrol/addresses.ts';

const path = '/api/v1/agent-daemon/ws';

describe('a remote_url (M1)', () => {
  test.each([
    [`wss://core.example.com${path}`, 'https://core.example.com/api/v1', 'core.example.com'],
    [`wss://core.example.com:8443${path}`, 'https://core.example.com:8443/api/v1', 'core.example.com:8443'],
    [`ws://127.0.0.1:7001${path}`, 'http://127.0.0.1:7001/api/v1', '127.0.0.1:7001'],
    [`ws://localhost:7001${path}`, 'http://localhost:7001/api/v1', 'localhost:7001'],
    [`ws://[::1]:7001${path}`, 'http://[::1]:7001/api/v1', '[::1]:7001'],
  ])('%s is kept as it is and leads to its machine routes', (text, coreUrl, host) => {
    expect(parseRemoteUrl(text)).toEqual({ remoteUrl: text, coreUrl, host });
  });

  test.each([
    ['plain text to another machine', `ws://core.example.com${path}`],
    ['a host that only begins like this machine', `ws://127.0.0.1.example.com${path}`],
    ['a user', `wss://user@core.example.com${path}`],
    ['a user and a password', `wss://user:word@core.example.com${path}`],
    ['a query', `wss://core.example.com${path}?token=1`],
    ['an empty query', `wss://core.example.com${path}?`],
    ['a fragment', `wss://core.example.com${path}#x`],
    ['an empty fragment', `wss://core.example.com${path}#`],
    ['a blank before it', ` wss://core.example.com${path}`],
    ['a line end after it', `wss://core.example.com${path}\n`],
    ['an escaped path', 'wss://core.example.com/api/v1/agent%2Ddaemon/ws'],
    ['another path', 'wss://core.example.com/api/v2/agent-daemon/ws'],
    ['a slash at the end', `wss://core.example.com${path}/`],
    ['a way around', `wss://core.example.com/api/v1/../v1/agent-daemon/ws`],
    ['a prefix', `wss://core.example.com/more${path}`],
    ['no host', `wss://${path}`],
    ['another scheme', `https://core.example.com${path}`],
    ['a backslash for a slash', `wss:\\\\core.example.com${path}`],
    ['nothing', ''],
    ['what is no address', 'core.example.com'],
    ['a port that is none', `wss://core.example.com:99999${path}`],
    ['more than an address can be', `wss://${'a'.repeat(3_000)}.example.com${path}`],
  ])('with %s is refused', (_name, text) => {
    expect(parseRemoteUrl(text)).toBeNull();
  });
});

describe('an endpoint', () => {
  test.each([
    'https://core.example.com',
    'https://core.example.com/',
    'https://core.example.com/api/v1',
    'https://core.example.com/api/v1/',
    'https://core.example.com/api/v1/agent-daemon',
    'https://core.example.com/api/v1/agent-daemon/installation',
  ])('%s leads to the one address that an answer may name', (text) => {
    expect(parseEndpoint(text)).toEqual({
      remoteUrl: `wss://core.example.com${path}`,
      coreUrl: 'https://core.example.com/api/v1',
      host: 'core.example.com',
    });
  });

  test.each([
    'http://core.example.com/api/v1',
    'https://user@core.example.com',
    'https://core.example.com/api/v1?grant=x',
    'https://core.example.com/other',
    'https://core.example.com/api/v1/agent-daemon/enroll',
    'wss://core.example.com',
  ])('%s is refused', (text) => {
    expect(parseEndpoint(text)).toBeNull();
  });
});
