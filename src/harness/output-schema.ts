import { Ajv2020 } from 'ajv/dist/2020.js';

import { isJsonObject, type JsonObject } from '../protocol/presence.ts';

/** The form an answer must have. */
export interface OutputSchema {
  readonly json: JsonObject;
  /** Whether a value has that form. */
  accepts(value: unknown): boolean;
}

export type CompiledSchema =
  | { readonly kind: 'schema'; readonly schema: OutputSchema }
  /** For a person. */
  | { readonly kind: 'refused'; readonly why: string };

/**
 * A JSON Schema as a check of our own: a Harness asks its model for the form, which proves nothing about what comes
 * back (input-and-tools 4). The schema is passed on as it is, never rewritten.
 */
export function compileOutputSchema(schema: unknown): CompiledSchema {
  if (!isJsonObject(schema) || schema['type'] !== 'object') return refused('its root is no object');
  if (!numbersSurvive(schema)) return refused('it holds a number that would be changed on its way');
  try {
    // Formats and unknown words are notes to the model; nobody here judges by them.
    const accepts = new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(schema);
    return { kind: 'schema', schema: { json: schema, accepts: (value) => accepts(value) === true } };
  } catch {
    return refused('it is no JSON Schema');
  }
}

const refused = (why: string): CompiledSchema => ({ kind: 'refused', why });

/** Whole numbers beyond 2^53 may have been other numbers before they were read. */
function numbersSurvive(value: unknown): boolean {
  if (typeof value === 'number') {
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  }
  if (Array.isArray(value)) return value.every(numbersSurvive);
  return !isJsonObject(value) || Object.values(value).every(numbersSurvive);
}
