import { expect, test } from 'vitest';
import { decodePunycode, hostName } from '../../../renderer/select/host-name.ts';

test.each([
  ['mnchen-3ya', 'münchen'],
  ['pple-43d', 'аpple'],
  ['ihqwcrb4cv8a8dqg056pqjye', '他们为什么不说中文'],
  ['r8jz45g', '例え'],
])('punycode %s reads %s', (label, decoded) => {
  expect(decodePunycode(label)).toBe(decoded);
});

test('what is not punycode is left as it is written', () => {
  expect(decodePunycode('!!')).toBeNull();
  expect(hostName('xn--!!.com').decoded).toBeNull();
});

test('a plain host has nothing to decode and no foreign letter', () => {
  expect(hostName('api.example.org')).toMatchObject({ decoded: null, foreign: [] });
});

test('a letter of another script is named and told apart from the rest', () => {
  const host = hostName('xn--pple-43d.com');
  expect(host.decoded).toBe('аpple.com');
  expect(host.foreign).toEqual(['а (U+0430)']);
  expect(host.pieces).toEqual([
    { text: 'а', foreign: true },
    { text: 'pple.com', foreign: false },
  ]);
});
