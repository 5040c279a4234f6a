/**
 * D-Bus messages as bytes, as much of the specification as a desktop shell needs: little endian, every type but file
 * descriptors. Signatures are written as D-Bus writes them ("susssasa{sv}i").
 */

/** A value of a variant: its signature goes with it when it is written; what is read is the value alone. */
export class Variant {
  constructor(
    readonly signature: string,
    readonly value: unknown,
  ) {}
}

export const messageTypes = { call: 1, answer: 2, error: 3, signal: 4 } as const;

export interface BusMessage {
  readonly type: number;
  /** 1: the sender wants no answer. */
  readonly flags: number;
  readonly serial: number;
  readonly path: string | null;
  readonly interface: string | null;
  readonly member: string | null;
  readonly errorName: string | null;
  readonly replySerial: number | null;
  readonly destination: string | null;
  readonly sender: string | null;
  readonly signature: string;
  readonly body: readonly unknown[];
}

export type OutgoingMessage = Partial<BusMessage> & Pick<BusMessage, 'type' | 'serial'>;

/** Larger than anything a desktop says; the bus itself allows 128 MiB. */
const LONGEST = 4 * 1024 * 1024;

const alignments: Readonly<Record<string, number>> = {
  ...{ y: 1, g: 1, v: 1, n: 2, q: 2, b: 4, i: 4, u: 4, s: 4, o: 4, a: 4 },
  ...{ x: 8, t: 8, d: 8, '(': 8, '{': 8 },
};

/** The end (exclusive) of the complete type that begins at `at`. */
function typeEnd(signature: string, at: number): number {
  const letter = signature[at];
  if (letter === 'a') return typeEnd(signature, at + 1);
  if (letter === '(' || letter === '{') {
    const closing = letter === '(' ? ')' : '}';
    let next = at + 1;
    while (signature[next] !== closing) next = typeEnd(signature, next);
    return next + 1;
  }
  if (letter === undefined || alignments[letter] === undefined) throw new RangeError('Not a D-Bus type');
  return at + 1;
}

function typesOf(signature: string): string[] {
  const types: string[] = [];
  for (let at = 0; at < signature.length;) {
    const end = typeEnd(signature, at);
    types.push(signature.slice(at, end));
    at = end;
  }
  return types;
}

const alignmentOf = (type: string): number => alignments[type[0] ?? ''] ?? 1;

class Writer {
  #bytes = Buffer.alloc(256);
  length = 0;

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  align(to: number): void {
    this.#room(to);
    while (this.length % to !== 0) this.#bytes[this.length++] = 0;
  }

  write(type: string, value: unknown): void {
    this.align(alignmentOf(type));
    switch (type[0]) {
      case 'y':
        return this.#number(1, (bytes, at) => bytes.writeUInt8(Number(value), at));
      case 'n':
        return this.#number(2, (bytes, at) => bytes.writeInt16LE(Number(value), at));
      case 'q':
        return this.#number(2, (bytes, at) => bytes.writeUInt16LE(Number(value), at));
      case 'b':
        return this.#number(4, (bytes, at) => bytes.writeUInt32LE(value === true ? 1 : 0, at));
      case 'i':
        return this.#number(4, (bytes, at) => bytes.writeInt32LE(Number(value), at));
      case 'u':
        return this.#number(4, (bytes, at) => bytes.writeUInt32LE(Number(value), at));
      case 'x':
        return this.#number(8, (bytes, at) => bytes.writeBigInt64LE(BigInt(Number(value)), at));
      case 't':
        return this.#number(8, (bytes, at) => bytes.writeBigUInt64LE(BigInt(Number(value)), at));
      case 'd':
        return this.#number(8, (bytes, at) => bytes.writeDoubleLE(Number(value), at));
      case 's':
      case 'o': {
        const text = Buffer.from(String(value), 'utf8');
        this.write('u', text.length);
        return this.#raw(text, 1);
      }
      case 'g': {
        const text = Buffer.from(String(value), 'latin1');
        this.write('y', text.length);
        return this.#raw(text, 1);
      }
      case 'v': {
        if (!(value instanceof Variant)) throw new TypeError('A variant needs its signature');
        this.write('g', value.signature);
        return this.write(value.signature, value.value);
      }
      case 'a':
        return this.#array(type.slice(1), value);
      case '(': {
        const types = typesOf(type.slice(1, -1));
        const members = asList(value);
        types.forEach((member, index) => this.write(member, members[index]));
        return;
      }
      default:
        throw new RangeError('Not a D-Bus type');
    }
  }

  #array(element: string, value: unknown): void {
    this.write('u', 0);
    const lengthAt = this.length - 4;
    this.align(alignmentOf(element));
    const begin = this.length;
    if (Buffer.isBuffer(value)) this.#raw(value, 0);
    else if (element.startsWith('{')) {
      const [keyType = 's', valueType = 'v'] = typesOf(element.slice(1, -1));
      for (const [key, member] of Object.entries(Object(value))) {
        this.align(8);
        this.write(keyType, key);
        this.write(valueType, member);
      }
    } else for (const member of asList(value)) this.write(element, member);
    this.#bytes.writeUInt32LE(this.length - begin, lengthAt);
  }

  #number(size: number, put: (bytes: Buffer, at: number) => void): void {
    this.#room(size);
    put(this.#bytes, this.length);
    this.length += size;
  }

  #raw(bytes: Buffer, zeros: number): void {
    this.#room(bytes.length + zeros);
    bytes.copy(this.#bytes, this.length);
    this.#bytes.fill(0, this.length + bytes.length, this.length + bytes.length + zeros);
    this.length += bytes.length + zeros;
  }

  #room(more: number): void {
    if (this.length + more <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.max(this.#bytes.length * 2, this.length + more));
    this.bytes.copy(larger);
    this.#bytes = larger;
  }
}

/** Reads outside of the bytes throw a RangeError: a message that lies about its lengths is none. */
class Reader {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  align(to: number): void {
    this.at = Math.ceil(this.at / to) * to;
  }

  read(type: string): unknown {
    this.align(alignmentOf(type));
    switch (type[0]) {
      case 'y':
        return this.#bytes.readUInt8(this.#step(1));
      case 'n':
        return this.#bytes.readInt16LE(this.#step(2));
      case 'q':
        return this.#bytes.readUInt16LE(this.#step(2));
      case 'b':
        return this.#bytes.readUInt32LE(this.#step(4)) === 1;
      case 'i':
        return this.#bytes.readInt32LE(this.#step(4));
      case 'u':
        return this.#bytes.readUInt32LE(this.#step(4));
      case 'x':
        return Number(this.#bytes.readBigInt64LE(this.#step(8)));
      case 't':
        return Number(this.#bytes.readBigUInt64LE(this.#step(8)));
      case 'd':
        return this.#bytes.readDoubleLE(this.#step(8));
      case 's':
      case 'o':
        return this.#text(Number(this.read('u')));
      case 'g':
        return this.#text(Number(this.read('y')));
      case 'v':
        return this.read(String(this.read('g')));
      case 'a':
        return this.#array(type.slice(1));
      case '(':
        return typesOf(type.slice(1, -1)).map((member) => this.read(member));
      default:
        throw new RangeError('Not a D-Bus type');
    }
  }

  #array(element: string): unknown {
    const length = Number(this.read('u'));
    this.align(alignmentOf(element));
    const end = this.at + length;
    if (end > this.#bytes.length) throw new RangeError('An array ends outside of its message');
    if (element === 'y') return Buffer.from(this.#bytes.subarray(this.#step(length), end));
    if (element.startsWith('{')) {
      const [keyType = 's', valueType = 'v'] = typesOf(element.slice(1, -1));
      const entries: [string, unknown][] = [];
      while (this.at < end) {
        this.align(8);
        const key = String(this.read(keyType));
        entries.push([key, this.read(valueType)]);
      }
      return Object.fromEntries(entries);
    }
    const members: unknown[] = [];
    while (this.at < end) members.push(this.read(element));
    return members;
  }

  #text(length: number): string {
    const from = this.#step(length + 1);
    if (this.at > this.#bytes.length) throw new RangeError('A text ends outside of its message');
    return this.#bytes.toString('utf8', from, from + length);
  }

  #step(size: number): number {
    const from = this.at;
    this.at += size;
    return from;
  }
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const fieldTypes: readonly (readonly [number, string, keyof BusMessage])[] = [
  [1, 'o', 'path'],
  [2, 's', 'interface'],
  [3, 's', 'member'],
  [4, 's', 'errorName'],
  [5, 'u', 'replySerial'],
  [6, 's', 'destination'],
  [7, 's', 'sender'],
  [8, 'g', 'signature'],
];

export function encodeMessage(message: OutgoingMessage): Buffer {
  const body = new Writer();
  const signature = message.signature ?? '';
  typesOf(signature).forEach((type, index) => body.write(type, message.body?.[index]));
  const fields = fieldTypes.flatMap(([code, type, name]) => {
    const value = message[name];
    return value === undefined || value === null || value === '' ? [] : [[code, new Variant(type, value)]];
  });
  const head = new Writer();
  head.write('y', 'l'.charCodeAt(0));
  head.write('y', message.type);
  head.write('y', message.flags ?? 0);
  head.write('y', 1);
  head.write('u', body.length);
  head.write('u', message.serial);
  head.write('a(yv)', fields);
  head.align(8);
  return Buffer.concat([head.bytes, body.bytes]);
}

/**
 * The first whole message of `bytes` and how long it is; null while it is not all there.
 * @throws RangeError for what is no message of the bus, or one that is too large.
 */
export function decodeMessage(
  bytes: Buffer,
): { readonly message: BusMessage; readonly length: number } | null {
  if (bytes.length < 16) return null;
  if (bytes[0] !== 'l'.charCodeAt(0)) throw new RangeError('Only little endian messages are understood');
  const bodyLength = bytes.readUInt32LE(4);
  const headLength = Math.ceil((16 + bytes.readUInt32LE(12)) / 8) * 8;
  const length = headLength + bodyLength;
  if (length > LONGEST) throw new RangeError('The message is too large');
  if (bytes.length < length) return null;
  const whole = bytes.subarray(0, length);
  const fields = new Map(
    asList(new Reader(whole, 12).read('a(yv)')).map((field) => {
      const [code, value] = asList(field);
      return [Number(code), value] as const;
    }),
  );
  const text = (code: number): string | null => {
    const value = fields.get(code);
    return typeof value === 'string' ? value : null;
  };
  const signature = text(8) ?? '';
  const reader = new Reader(whole, headLength);
  const reply = fields.get(5);
  return {
    length,
    message: {
      ...{ type: whole.readUInt8(1), flags: whole.readUInt8(2), serial: whole.readUInt32LE(8) },
      ...{ path: text(1), interface: text(2), member: text(3), errorName: text(4) },
      ...{ destination: text(6), sender: text(7), signature },
      replySerial: typeof reply === 'number' ? reply : null,
      body: typesOf(signature).map((type) => reader.read(type)),
    },
  };
}
