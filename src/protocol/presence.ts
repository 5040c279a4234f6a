import * as z from 'zod';

/**
 * How a member of a payload is present (wire 1.3), stated once in the schema and used by decoding and encoding.
 *
 * Convention for decoded values: members that senders always write are always there (an absent or null one reads as
 * the zero value, `nullable` ones as null); members that are left out at zero are `undefined` when not given. Null
 * never reaches a reader unless the member is `nullable`.
 */
export type Presence =
  /** Written always; a receiver refuses the frame without it. */
  | 'required'
  /** Written always and never as zero; a receiver reads absence as zero and lets the family speak. */
  | 'expected'
  /** Written always, also as zero. */
  | 'written'
  /** Written always, as null when not given. */
  | 'nullable'
  /** Left out when zero. */
  | 'optional'
  /** Left out when not given; an empty value is a statement and is written. */
  | 'given';

export interface Member {
  readonly presence: Presence;
  readonly inner: z.ZodType;
}

const members = new WeakMap<z.ZodType, Member>();
const sendable = new WeakMap<z.ZodType, readonly string[]>();
const zeros = new WeakMap<z.ZodType, () => unknown>();

/** Presence and inner schema of a member of an object schema. */
export const memberOf = (schema: z.ZodType): Member =>
  members.get(schema) ?? { presence: 'required', inner: schema };

/** The only values our encoders write into an open set; undefined for any other schema. */
export const sendableValues = (schema: z.ZodType): readonly string[] | undefined => sendable.get(schema);

/** What an absent list reads as; encoded as null again, so that "no list" stays different from an empty one. */
const absentList: unknown[] = [];
Object.freeze(absentList);
export const isAbsentList = (value: unknown): boolean => value === absentList;

/** The zero value of a schema, as the sender of an absent member meant it. */
export function zeroOf<S extends z.ZodType>(schema: S): z.output<S>;
export function zeroOf(schema: z.ZodType): unknown {
  const zero = zeros.get(schema);
  if (zero) return zero();
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum) return '';
  if (schema instanceof z.ZodNumber) return 0;
  if (schema instanceof z.ZodBoolean) return false;
  if (schema instanceof z.ZodArray) return absentList;
  if (schema instanceof z.ZodObject || schema instanceof z.ZodPipe) return schema.parse({});
  return undefined;
}

/** One schema for each presence of each inner schema: the families have hundreds of members of a dozen kinds. */
const wraps = new WeakMap<z.ZodType, Map<Presence, z.ZodType>>();

function member<W extends z.ZodType>(presence: Presence, inner: z.ZodType, wrap: () => W): W {
  const made = wraps.get(inner) ?? new Map<Presence, z.ZodType>();
  const known = made.get(presence);
  // One presence wraps in one way, so what it made of this schema before has this type.
  if (known) return known as W;
  const wrapped = wrap();
  members.set(wrapped, { presence, inner });
  wraps.set(inner, made.set(presence, wrapped));
  return wrapped;
}

const orZero = <S extends z.ZodType>(schema: S) =>
  z.nullish(schema).transform((value): z.output<S> => value ?? zeroOf(schema));
const orUndefined = <S extends z.ZodType>(schema: S) =>
  z.optional(z.nullable(schema).transform((value): z.output<S> | undefined => value ?? undefined));

export const required = <S extends z.ZodType>(schema: S) =>
  member('required', schema, () => z.nonoptional(schema));
export const expected = <S extends z.ZodType>(schema: S) => member('expected', schema, () => orZero(schema));
export const written = <S extends z.ZodType>(schema: S) => member('written', schema, () => orZero(schema));
export const nullable = <S extends z.ZodType>(schema: S) =>
  member('nullable', schema, () => z.nullish(schema).transform((value): z.output<S> | null => value ?? null));
export const optional = <S extends z.ZodType>(schema: S) =>
  member('optional', schema, () => orUndefined(schema));
export const given = <S extends z.ZodType>(schema: S) => member('given', schema, () => orUndefined(schema));

/** Left out when not given; null and every other value reach the reader as they came, so that a rule can refuse them. */
export const verbatim = () => asItCame;

/** `optional` for a closed set: the empty text is the zero value and reads as not given. */
export const optionalOneOf = <const T extends readonly [string, ...string[]]>(values: T) => {
  const known: ReadonlySet<string> = new Set(values);
  const isKnown = (value: string): value is T[number] => known.has(value);
  const inner = z.enum(values);
  return member('optional', inner, () =>
    z.optional(
      z
        .nullable(text)
        .refine((value) => value === null || value === '' || known.has(value))
        .transform((value): T[number] | undefined => (value !== null && isKnown(value) ? value : undefined)),
    ),
  );
};

/** A list whose elements have no zero value: a null one breaks the element's rule. */
export const plainList = <S extends z.ZodType>(element: S) => z.array(element);

/** A list whose null elements read as the element's zero value. */
export const list = <S extends z.ZodType>(element: S) =>
  z.array(z.nullable(element).transform((value): z.output<S> => value ?? zeroOf(element)));

export const text = z.string();
export const flag = z.boolean();

const decodeStage = { params: { stage: 'decode' } } as const;

/** A whole number within 64 bits. */
export const integer = number((value) => Number.isInteger(value) && Math.abs(value) <= 2 ** 63);
/** A whole number that is not negative and fits 64 bits. */
export const count = number((value) => Number.isInteger(value) && value >= 0 && value <= 2 ** 64);
export const integer32 = number((value) => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31);
export const decimal = number(() => true);

function number(accepts: (value: number) => boolean) {
  const schema = z.custom<number>((value) => typeof value === 'number' && accepts(value), decodeStage);
  zeros.set(schema, () => 0);
  return schema;
}

export type JsonObject = Record<string, unknown>;

/** Free-form object: passed on as it came, whatever it holds. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, decodeStage);
zeros.set(jsonObject, () => ({}));

/** Any JSON value, passed on as it came. */
export const anyJson = z.unknown();
zeros.set(anyJson, () => null);

const asItCame = z.unknown().optional();
members.set(asItCame, { presence: 'given', inner: anyJson });

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A closed set that every receiver enforces. */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) => z.enum(values);

/**
 * A set that is finite for our senders and open for our receivers: `decode` takes any text, because the peer of
 * another generation may know more values, and `encode` refuses to write one that is not listed.
 */
export function openText<const T extends readonly string[]>(values: T) {
  const schema = z.custom<T[number] | (string & {})>((value) => typeof value === 'string', decodeStage);
  zeros.set(schema, () => '');
  sendable.set(schema, values);
  return schema;
}

/** A rule of the family's shared validator on one value: refuses at stage `validate`. */
export const where = <S extends z.ZodType>(schema: S, accepts: (value: z.output<S>) => boolean): S => {
  const refined = schema.refine(accepts);
  const zero = zeros.get(schema);
  if (zero) zeros.set(refined, zero);
  return refined;
};
