import { describe, expect, test } from 'vitest';
import { decodeMessage, encodeMessage, messageTypes, Variant } from '../../../electron/bus-message.ts';
import { socketPaths } from '../../../electron/session-bus.ts';

const roundTrip = (signature: string, body: readonly unknown[]): readonly unknown[] | undefined =>
  decodeMessage(encodeMessage({ type: messageTypes.signal, serial: 7, signature, body }))?.message.body;

describe('messages of the bus', () => {
  test('what is written is read again, with its header', () => {
    const bytes = encodeMessage({
      ...{
        type: messageTypes.call,
        serial: 3,
        path: '/a/b',
        interface: 'a.B',
        member: 'C',
        destination: 'd.E',
      },
      ...{ signature: 's', body: ['Grüße'] },
    });
    expect(decodeMessage(bytes)).toEqual({
      length: bytes.length,
      message: {
        ...{ type: 1, flags: 0, serial: 3, path: '/a/b', interface: 'a.B', member: 'C', errorName: null },
        ...{ replySerial: null, destination: 'd.E', sender: null, signature: 's', body: ['Grüße'] },
      },
    });
  });

  test('the bytes are those of the specification', () => {
    const bytes = encodeMessage({
      type: messageTypes.signal,
      serial: 1,
      path: '/',
      signature: 'yu',
      body: [1, 2],
    });
    expect(bytes.toString('hex')).toBe(
      // l, signal, no flags, version 1 | 8 bytes of body | serial 1 | 24 bytes of fields
      '6c040001080000000100000018000000' +
        // field 1: variant of type o, "/" | field 8: variant of type g, "yu" | body
        '01016f00010000002f00000000000000' +
        '0801670002797500' +
        '0100000002000000',
    );
  });

  test.each([
    ['ybnqiuxtd', [1, true, -2, 3, -4, 5, -6, 7, 0.5]],
    ['as', [['', 'a', 'bc']]],
    ['a(iiay)', [[[2, 1, Buffer.from([1, 2, 3])]]]],
    ['(i(so))u', [[-1, ['x', '/y']], 9]],
    ['aai', [[[1], [], [2, 3]]]],
  ])('%s', (signature, body) => {
    expect(roundTrip(signature, body)).toEqual(body);
  });

  test('a variant carries its signature and is read as its value', () => {
    expect(roundTrip('a{sv}', [{ a: new Variant('i', 1), b: new Variant('as', ['c']) }])).toEqual([
      { a: 1, b: ['c'] },
    ]);
  });

  test('half a message is none yet; two in one piece are read one after the other', () => {
    const one = encodeMessage({ type: messageTypes.signal, serial: 1, signature: 's', body: ['one'] });
    for (let length = 0; length < one.length; length += 1)
      expect(decodeMessage(one.subarray(0, length))).toBeNull();
    expect(decodeMessage(Buffer.concat([one, one]))?.length).toBe(one.length);
  });

  test('bytes that lie about their lengths are refused and read nothing outside', () => {
    const bytes = encodeMessage({ type: messageTypes.signal, serial: 1, signature: 'as', body: [['abc']] });
    bytes.writeUInt32LE(4_000, bytes.length - 12);
    expect(() => decodeMessage(bytes)).toThrow(RangeError);
    const large = encodeMessage({ type: messageTypes.signal, serial: 1 });
    large.writeUInt32LE(0x7fff_ffff, 4);
    expect(() => decodeMessage(large)).toThrow(RangeError);
  });
});

test('the sockets that an address of a bus names', () => {
  expect(socketPaths('unix:path=/run/user/1000/bus')).toEqual(['/run/user/1000/bus']);
  expect(socketPaths('unix:path=/tmp/a%20b,guid=0f;unix:abstract=/x')).toEqual(['/tmp/a b', '\0/x']);
  expect(socketPaths('disabled:')).toEqual([]);
  expect(socketPaths('tcp:host=localhost,port=1')).toEqual([]);
});
