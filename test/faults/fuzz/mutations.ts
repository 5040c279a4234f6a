import { isJsonObject, type JsonObject } from '../../../src/protocol/presence.ts';
import type { Dice } from '../chaos/dice.ts';

/** Values that break something somewhere: of another type, at a bound, or text that is hard to handle. */
const junk: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  2 ** 53,
  -(2 ** 63),
  '',
  ' ',
  'x',
  '\u0000',
  '\ud800',
  '\u202e\u0007',
  '../../etc/passwd',
  'x'.repeat(300),
  '00000000-0000-0000-0000-000000000000',
  [],
  {},
  [null],
  [[[[]]]],
  { type: 'input_text' },
];

/** A frame as an object with one to four things wrong, or as it was. */
export function mutate(frame: JsonObject, dice: Dice, other: JsonObject): JsonObject {
  const copy = clone(frame);
  for (let times = dice.under(5); times > 0; times--) mutateOnce(copy, dice, other);
  return copy;
}

function mutateOnce(frame: JsonObject, dice: Dice, other: JsonObject): void {
  const place = somewhere(frame, dice);
  const names = Object.keys(place);
  const name = dice.pick(names);
  switch (dice.under(8)) {
    case 0:
      if (name !== undefined) delete place[name];
      return;
    case 1:
    case 2:
      if (name !== undefined) place[name] = clone(dice.pick(junk));
      return;
    case 3:
      // Defined, because an assignment to __proto__ is none that JSON would show.
      Object.defineProperty(place, dice.pick(['surprise', '__proto__', 'constructor', 'Type', '']) ?? '', {
        value: clone(dice.pick(junk)),
        enumerable: true,
        configurable: true,
        writable: true,
      });
      return;
    case 4:
      if (name !== undefined) {
        place[name.toUpperCase()] = place[name];
        delete place[name];
      }
      return;
    case 5: {
      // A member of another frame.
      const theirs = somewhere(other, dice);
      const from = dice.pick(Object.keys(theirs));
      if (from !== undefined) place[name ?? from] = clone(theirs[from]);
      return;
    }
    case 6:
      if (name !== undefined) place[name] = [place[name], clone(place[name])];
      return;
    default:
      if (name !== undefined && typeof place[name] === 'string')
        place[name] = edit(String(place[name]), dice);
      return;
  }
}

/** Any object inside, the outer ones more often. */
function somewhere(frame: JsonObject, dice: Dice): JsonObject {
  let place = frame;
  while (dice.chance(0.75)) {
    const inner = Object.values(place).flatMap((value) => (Array.isArray(value) ? value : [value]));
    const next = dice.pick(inner.filter(isJsonObject));
    if (!next) break;
    place = next;
  }
  return place;
}

function edit(text: string, dice: Dice): string {
  const at = dice.under(text.length + 1);
  switch (dice.under(4)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return `${text.slice(0, at)}${String.fromCharCode(dice.under(0xffff))}${text.slice(at)}`;
    case 2:
      return text.toUpperCase();
    default:
      return text.repeat(1 + dice.under(20));
  }
}

/** The message itself: as JSON writes it, or damaged on the way. */
export function message(frame: JsonObject, dice: Dice): string | Uint8Array {
  const text = JSON.stringify(frame) ?? '';
  const at = dice.under(text.length + 1);
  switch (dice.under(40)) {
    case 0:
      return text.slice(0, at);
    case 1: {
      const bytes = Buffer.from(text);
      if (bytes.length > 0) bytes[dice.under(bytes.length)] = dice.under(256);
      return bytes;
    }
    case 2:
      return Buffer.from([0xff, 0xfe, ...Buffer.from(text)]);
    case 3:
      return `\ufeff${text}`;
    case 4:
      return `${'['.repeat(5_000)}${text}`;
    case 5:
      // The same member twice: the last one counts.
      return text.replace('{', '{"id":"first","payload":{"x":1},');
    case 6:
      return `${text}${text}`;
    case 7:
      return dice.pick(['', 'null', '0', '"text"', '[]', '{}', '{"type":1}', '{"type":"x","id":5}']) ?? '';
    case 8:
      return dice.chance(0.02)
        ? JSON.stringify({ ...frame, filler: 'x'.repeat(2_000_000) })
        : Buffer.from(text);
    default:
      return text;
  }
}

export function clone<T>(value: T): T {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T);
}
