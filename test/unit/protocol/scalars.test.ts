import { describe, expect, test } from 'vitest';

import { base64ByteLength, decodeBase64, encodeBase64, isBase64 } from '../../../src/protocol/base64.ts';
import {
  isAbsoluteLocalPath,
  isApiPath,
  isBlank,
  isCanonicalUuid,
  isLogicalPath,
  isNativeIdentity,
  isSha256Text,
} from '../../../src/protocol/ids.ts';
import { formatTrace, parseTrace } from '../../../src/protocol/trace.ts';
import { decodeUtf8, fitsUtf8, hasLoneSurrogate, utf8Length } from '../../../src/protocol/utf8.ts';
import { isSameWireVersion, WIRE_VERSION } from '../../../src/protocol/version.ts';

const uuid = '58e2e6ff-46cf-477f-8705-f19c41923382';

test.each([
  [uuid, true],
  [uuid.toUpperCase(), false],
  [`{${uuid}}`, false],
  [`urn:uuid:${uuid}`, false],
  [uuid.replaceAll('-', ''), false],
  ['00000000-0000-0000-0000-000000000000', false],
  [`${uuid}\n`, false],
  ['', false],
])('canonical UUID %j: %s', (value, expected) => expect(isCanonicalUuid(value)).toBe(expected));

test.each([
  ['', true],
  [' \t\r\n', true],
  ['\u0085\u00a0\u3000\u2028', true],
  ['\ufeff', false],
  ['\u200b', false],
  [' a ', false],
])('blank %j: %s', (value, expected) => expect(isBlank(value)).toBe(expected));

test.each([
  ['a'.repeat(64), true],
  ['A'.repeat(64), false],
  ['a'.repeat(63), false],
  ['g'.repeat(64), false],
])('sha256 text %j: %s', (value, expected) => expect(isSha256Text(value)).toBe(expected));

test.each([
  ['thread-9', true],
  ['a b', true],
  [' a', false],
  ['a\u0085', false],
  ['a\nb', false],
  ['', false],
  ['é'.repeat(256), true],
  ['é'.repeat(257), false],
])('native identity %j: %s', (value, expected) => expect(isNativeIdentity(value)).toBe(expected));

describe('paths', () => {
  test.each(['a', 'a/b.txt', '.hidden', 'a/..b', 'é/ü', 'a'.repeat(4096)])(
    'the API path %j is good',
    (path) => {
      expect(isApiPath(path, { rootAllowed: false })).toBe(true);
    },
  );
  test.each([
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/./b',
    'a/../b',
    'a\\b',
    'a\0',
    'a\rb',
    '\ud800',
    'a'.repeat(4097),
  ])('the API path %j is refused', (path) => {
    expect(isApiPath(path, { rootAllowed: true })).toBe(false);
  });
  test('the root is an API path only where it is allowed', () => {
    expect([isApiPath('', { rootAllowed: true }), isApiPath('', { rootAllowed: false })]).toEqual([
      true,
      false,
    ]);
  });
  test('a logical path lies below /workspace, which itself is one only where allowed', () => {
    expect(isLogicalPath('/workspace/a/b', { rootAllowed: false })).toBe(true);
    expect(isLogicalPath('/workspace', { rootAllowed: true })).toBe(true);
    expect(isLogicalPath('/workspace', { rootAllowed: false })).toBe(false);
    for (const path of [
      '/workspace/',
      '/workspace/../a',
      '/workspaces/a',
      '/workspace/a\\b',
      '/workspace/a//b',
    ])
      expect([path, isLogicalPath(path, { rootAllowed: true })]).toEqual([path, false]);
  });
  test.each([
    ['/', true],
    ['/home/user', true],
    ['/home/../user', false],
    ['/home/', false],
    ['home', false],
    ['C:\\x', true],
    ['C:\\', true],
    ['C:\\x\\..\\y', false],
    ['C:x', false],
    ['\\\\host\\share\\a', true],
    ['/a\nb', false],
  ])('the absolute local path %j: %s', (path, expected) => expect(isAbsoluteLocalPath(path)).toBe(expected));
});

describe('UTF-8', () => {
  test.each(['', 'abc', 'é', '漢字', '😀', 'a😀é', '\ud800', '\udc00a', 'a\ud800\ud800'])(
    '%j is measured as it is written',
    (text) => {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text, 'utf8'));
      expect(fitsUtf8(text, Buffer.byteLength(text))).toBe(true);
      if (text !== '') expect(fitsUtf8(text, Buffer.byteLength(text) - 1)).toBe(false);
    },
  );
  test.each([
    ['😀', false],
    ['\ud83d', true],
    ['a\ude00', true],
    ['\ud83d\ud83d\ude00', true],
    ['\ud83d\ude00\ud83d\ude00', false],
  ])('lone surrogate in %j: %s', (text, expected) => expect(hasLoneSurrogate(text)).toBe(expected));
  test('bytes are read as text and broken ones are refused', () => {
    const text = `a é 漢 😀 ${'x'.repeat(20_000)}`;
    expect(decodeUtf8(new TextEncoder().encode(text))).toBe(text);
    for (const bytes of [
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0xe2, 0x82],
      [0x80],
      [0xf8, 0x88, 0x80, 0x80, 0x80],
    ])
      expect(decodeUtf8(Uint8Array.from(bytes))).toBeUndefined();
  });
});

describe('base64', () => {
  test('bytes of every length survive', () => {
    for (let length = 0; length < 20; length++) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 37 + 200) % 256);
      const text = encodeBase64(bytes);
      expect(text).toBe(Buffer.from(bytes).toString('base64'));
      expect(isBase64(text)).toBe(true);
      expect(base64ByteLength(text)).toBe(length);
      expect(decodeBase64(text)).toEqual(bytes);
    }
  });
  test('only as many bytes are decoded as are asked for', () => {
    expect(decodeBase64('YWJjZA==', 2)).toEqual(Uint8Array.from([97, 98]));
  });
  test.each(['YQ', 'YQ=', 'YR==', 'YW\n==', ' YQ==', 'YQ==YQ==', '____', 'Y===', '='])(
    '%j is refused',
    (text) => {
      expect(isBase64(text)).toBe(false);
      expect(decodeBase64(text)).toBeUndefined();
    },
  );
});

describe('trace', () => {
  const good = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  test('a traceparent is read and written', () => {
    const trace = parseTrace(` ${good} `);
    expect(trace).toEqual({
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      spanId: '00f067aa0ba902b7',
      sampled: true,
    });
    expect(trace && formatTrace(trace)).toBe(good);
    expect(parseTrace(good.replace(/01$/, '03'))?.sampled).toBe(true);
    expect(parseTrace(good.replace(/01$/, '02'))?.sampled).toBe(false);
  });
  test.each([
    undefined,
    '',
    'x',
    good.replace('00-', '01-'),
    good.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
    good.replace('00f067aa0ba902b7', '0'.repeat(16)),
    `${good}-x`,
    good.padEnd(400),
  ])('%j is no trace and no error', (text) => {
    expect(parseTrace(text)).toBeUndefined();
  });
});

test('only the exact wire version matches', () => {
  expect(isSameWireVersion(WIRE_VERSION)).toBe(true);
  for (const other of [
    '0.7.0',
    '0.8.99',
    '0.8.',
    `${WIRE_VERSION}-dev`,
    `${WIRE_VERSION}+build`,
    ` ${WIRE_VERSION}`,
    '',
  ])
    expect([other, isSameWireVersion(other)]).toEqual([other, false]);
});
