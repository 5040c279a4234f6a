import { describe, expect, test } from 'vitest';
import { notarisation } from '../../../build/notarisation.mjs';

const key = { APPLE_API_KEY: '/keys/a.p8', APPLE_API_KEY_ID: 'K1', APPLE_API_ISSUER: 'issuer' };
const account = { APPLE_ID: 'a@b.test', APPLE_APP_SPECIFIC_PASSWORD: 'p-secret', APPLE_TEAM_ID: 'T1' };
const keychain = { APPLE_KEYCHAIN: '/keys/login.keychain', APPLE_KEYCHAIN_PROFILE: 'release' };

describe('whether a package is notarised', () => {
  test.each([
    ['a key', key],
    ['an account', account],
    ['a keychain profile', keychain],
    ['two sets', { ...key, ...account }],
  ])('%s is complete: it is', (_, env) => {
    expect(notarisation({ PATH: '/bin', ...env })).toBe(true);
  });

  test('no credentials at all: it is not', () => {
    expect(notarisation({ PATH: '/bin' })).toBe(false);
    expect(notarisation({ APPLE_ID: '', APPLE_TEAM_ID: '' }), 'empty is not given').toBe(false);
  });

  test.each([key, account, keychain].flatMap((set) => Object.keys(set).map((name) => [name, set] as const)))(
    'all of a set but %s: an error that names it, and no value',
    (name, set) => {
      const env = Object.fromEntries(Object.entries(set).filter(([other]) => other !== name));
      const said = (() => {
        try {
          return String(notarisation(env));
        } catch (error) {
          return error instanceof Error ? error.message : 'no error';
        }
      })();
      expect(said).toContain(`needs ${name} beside`);
      for (const value of Object.values(env)) expect(said).not.toContain(value);
    },
  );

  test('an incomplete set beside a complete one is an error as well: it was meant to count', () => {
    expect(() => notarisation({ ...key, APPLE_ID: 'a@b.test' })).toThrow(
      'needs APPLE_APP_SPECIFIC_PASSWORD and APPLE_TEAM_ID beside APPLE_ID',
    );
  });
});
