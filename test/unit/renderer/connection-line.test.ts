import { describe, expect, test } from 'vitest';
import { catalogues } from '../../../renderer/i18n/catalogues.ts';
import { setCatalogue } from '../../../renderer/i18n/t.ts';
import { bindingsByNeed, connectionLine } from '../../../renderer/select/connection-line.ts';
import { isStopped } from '../../../src/contract/worst-state.ts';
import { clockTime } from '../../../renderer/select/time-words.ts';
import type { ConnectionView } from '../../../src/contract/view.ts';
import {
  ago,
  ahead,
  binding,
  connection,
  localBinding,
  lost,
  now,
  parked,
  view,
} from '../../support/renderer-fixture/samples.ts';

const line = (over: Partial<ConnectionView>, unconfirmed = 0) =>
  connectionLine(binding('a', { connection: connection(over) }), { now, unconfirmed });
const at = (seconds: number): string => clockTime(now - seconds * 1_000);

describe('the words of each connection state', () => {
  test('asking and connecting say since when', () => {
    expect(line({ state: 'bootstrapping', since: ago(2), attempt: 1 })).toMatchObject({
      state: 'Asking Core where to connect',
      reason: 'core.example.com, for 2 s',
      mark: { shape: 'ring', tone: 'run' },
    });
    expect(line({ state: 'dialing', since: ago(1), attempt: 1 })).toMatchObject({
      state: 'Connecting',
      reason: 'core.example.com, for 1 s',
    });
  });

  test('connected says since when and when Core was last heard', () => {
    expect(line({})).toMatchObject({
      state: `Connected since ${at(19_460)}`,
      reason: 'core.example.com · last heard 4 s ago',
      mark: { shape: 'on', tone: 'ok' },
      action: null,
    });
  });

  test('the local Core needs no account', () => {
    expect(connectionLine(localBinding(), { now, unconfirmed: 0 })).toMatchObject({
      state: 'Local Core, on this machine',
      reason: 'no account',
      note: 'local',
    });
  });

  test('lost counts down to the next try, and one may try now', () => {
    const lostLine = connectionLine(binding('a', { connection: lost }), { now, unconfirmed: 0 });
    expect(lostLine).toMatchObject({
      state: `Lost at ${at(300)}. Next try in 0:18`,
      reason: 'Core did not answer within 10 s. Try 4.',
      note: '0:18',
      action: 'retry',
    });
  });

  test.each([
    ['network', 'No network. Try 3.'],
    ['name_not_found', 'Name not found: core.example.com. Try 3.'],
    ['proxy_auth', 'The proxy wants a password (407). Try 3.'],
  ] as const)('%s has its sentence', (reason_code, reason) => {
    expect(line({ ...lost, reason: null, attempt: 3, reason_code }).reason).toBe(reason);
  });

  test.each([
    ['tls', 'Certificate not trusted: issuer Example CA.'],
    ['http_status', 'Core answered 503.'],
  ] as const)('%s is told in the daemon’s words, which hold the value', (reason_code, reason) => {
    expect(line({ ...lost, reason, attempt: 1, reason_code }).reason).toBe(reason);
  });

  test('trying again after a loss is not called connecting', () => {
    expect(line({ state: 'dialing', since: ago(1), attempt: 5, lost_at: ago(60) })).toMatchObject({
      state: `Lost at ${at(60)}. Trying now`,
      reason: 'Try 5',
    });
  });

  test('never connected is not called lost', () => {
    expect(line({ ...lost, lost_at: null }).state).toBe('Not connected yet. Next try in 0:18');
  });

  test('an unknown address is told apart from a lost connection', () => {
    expect(line({ ...lost, reason: null, reason_code: 'not_found' })).toMatchObject({
      state: 'Core does not know this address',
      reason: `It answered 404 since ${at(300)}. Trying on, every 30 s.`,
      action: 'doctor',
    });
  });

  test('unsettled work holds the connection back, and its cleanup can be shown', () => {
    expect(line({ state: 'settling', lost_at: ago(40) }, 1)).toMatchObject({
      state: `Lost at ${at(40)}. Waiting for cleanup`,
      reason: 'Not connecting again while 1 process is unconfirmed.',
      action: 'cleanup',
    });
  });

  test('after sleep nothing is claimed', () => {
    expect(line({ since: ago(3), reason_code: 'woke' })).toMatchObject({
      state: 'Checking after sleep',
      reason: 'The machine woke 3 s ago. Not yet known whether Core still hears this app.',
      mark: { shape: 'ring', tone: 'warn' },
    });
  });

  test('flapping names the likely cause', () => {
    expect(line({ ...lost, next_attempt_at: ahead(240), reason_code: 'flapping' })).toMatchObject({
      state: 'Lost 4 times within a minute',
      reason: 'Another program may use the same credential. Next try in 4:00.',
    });
  });

  test.each([
    ['incompatible_version', 'Parked: versions differ', 'update'],
    ['credential_rejected', 'Parked: Core rejected the credential', 'enrol'],
    ['binding_retired', 'Parked: Core retired this binding', 'remove'],
    ['credential_missing', 'Parked: the credential is missing', 'enrol'],
    ['other_key_bound', 'Parked: another key is bound', null],
    ['binding_mismatch', 'Parked: Core has another binding here', null],
    ['workspace_unusable', 'Parked: the bound folder cannot be used', null],
  ] as const)(
    'parked by %s is never called offline and does not offer a try',
    (reason_code, state, action) => {
      expect(line({ state: 'parked', reason_code })).toMatchObject({
        state,
        note: 'parked',
        action,
        mark: { shape: 'xx', tone: 'bad' },
      });
    },
  );

  test('without a credential store the choices are offered, whatever the state', () => {
    expect(
      line({
        state: 'waiting',
        reason_code: 'credential_store_unavailable',
        reason: 'The keychain is locked.',
      }),
    ).toMatchObject({
      state: 'Credential store unavailable',
      reason: 'The keychain is locked.',
      action: 'credentials',
    });
  });

  test('stopped says whether everything has ended', () => {
    expect(line({ state: 'stopped', since: ago(60) }).reason).toBe('Everything that was started has ended.');
    expect(line({ state: 'stopped', since: ago(60) }, 1)).toMatchObject({
      state: `Stopped at ${at(60)}`,
      reason: '1 process is unconfirmed.',
      action: 'start',
    });
  });
});

test('in another language the sentences of the daemon, which are English, give way to the catalogue', () => {
  try {
    setCatalogue(catalogues.de.tag, catalogues.de.texts);
    expect(line(lost).reason).toBe('Core hat 10 s lang nicht geantwortet. Versuch 4.');
    expect(line(parked)).toMatchObject({ state: 'Geparkt: verschiedene Versionen' });
    expect(line(parked).reason).not.toContain('Core speaks');
  } finally {
    setCatalogue(catalogues.en.tag, catalogues.en.texts);
  }
  expect(line(parked).reason).toContain('Core speaks 0.9.2');
});

test('a loss stays quiet for two seconds before it turns amber', () => {
  expect(line({ ...lost, lost_at: ago(1) }).mark.tone).toBe('none');
  expect(line({ ...lost, lost_at: ago(2) }).mark.tone).toBe('warn');
});

test('on Home parked comes first, then lost, then what connects, then what is well', () => {
  const order = bindingsByNeed(
    view({
      bindings: [
        localBinding(),
        binding('well'),
        binding('dialing', { connection: connection({ state: 'dialing', attempt: 1 }) }),
        binding('lost', { connection: lost }),
        binding('parked', { connection: parked }),
      ],
    }),
    { now, unconfirmed: 0 },
  );
  expect(order.map(([{ name }]) => name)).toEqual(['parked', 'lost', 'dialing', 'well', 'scratch']);
});

test('stopped is said only when every binding is', () => {
  const stopped = binding('a', { connection: connection({ state: 'stopped' }) });
  expect(isStopped(view({ bindings: [stopped] }))).toBe(true);
  expect(isStopped(view({ bindings: [stopped, binding('b')] }))).toBe(false);
  expect(isStopped(view({ bindings: [] }))).toBe(false);
});
