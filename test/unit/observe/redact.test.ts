import { expect, test } from 'vitest';
import { Redactor, encodedForms } from '../../../src/observe/redact.ts';

test('a registered secret is masked in every form it may be written in', () => {
  const redactor = new Redactor();
  const secret = 'canary/Secret+"42"=value';
  redactor.register(secret);
  const texts = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify({ secret }),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('base64'),
    Buffer.from(`x${secret}`).toString('base64'),
    Buffer.from(`xy${secret}z`).toString('base64url'),
    Buffer.from(Buffer.from(secret).toString('base64')).toString('base64'),
    Buffer.from(secret, 'utf16le').toString('hex'),
    secret.replaceAll('"', '&quot;'),
    secret.replaceAll('=', '=3D'),
  ];
  for (const text of texts) {
    const out = redactor.redact(`before ${text} after`);
    for (const form of encodedForms(secret)) expect(out).not.toContain(form);
    expect(out).toContain('[secret]');
  }
});

test('a bearer that nobody registered is masked all the same, ordinary text is not', () => {
  const redactor = new Redactor();
  expect(redactor.redact('Authorization: Bearer abcdefgh12345678')).toBe('Authorization: Bearer [secret]');
  redactor.register('short');
  expect(redactor.redact('a short text')).toBe('a short text');
});
