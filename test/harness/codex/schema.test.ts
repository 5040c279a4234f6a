import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { describe, expect } from 'vitest';
import * as z from 'zod';

import * as native from '../../../src/harness/codex/native-types.ts';
import { calledMethods } from '../../../src/harness/codex/probe.ts';
import { codex, codexTest, type CodexBed } from './codex-bed.ts';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema | true>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly definitions?: Readonly<Record<string, Schema>>;
}

/** What the installed program writes about itself. */
async function own(bed: CodexBed): Promise<(name: string) => Promise<Schema>> {
  const out = join(bed.root, 'schema');
  const env = { PATH: process.env['PATH'] ?? '', HOME: bed.home, CODEX_HOME: bed.home };
  await promisify(execFile)(
    codex ?? '',
    ['app-server', 'generate-json-schema', '--out', out, '--experimental'],
    { env },
  );
  return async (name) => JSON.parse(await readFile(join(out, `${name}.json`), 'utf8')) as Schema;
}

/** All shapes a schema may have, with references followed. */
function variants(schema: Schema | true | undefined, root: Schema): readonly Schema[] {
  if (schema === undefined || schema === true) return [];
  if (schema.$ref) return variants(root.definitions?.[schema.$ref.replace('#/definitions/', '')], root);
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const own =
    schema.properties || schema.items || schema.additionalProperties || inner.length === 0 ? [schema] : [];
  const nested = inner.flatMap((each) => variants(each, root));
  if (!schema.properties || nested.length === 0) return [...own, ...nested];
  return nested.map((each) => ({ ...each, properties: { ...schema.properties, ...each.properties } }));
}

/** Members that ours reads and the program's does not have, as paths. */
function foreign(ours: Schema, theirs: readonly Schema[], root: Schema, path: string): readonly string[] {
  const options = ours.anyOf ?? ours.oneOf;
  if (options) return options.flatMap((each) => foreign(each, theirs, root, path));
  if (ours.items)
    return foreign(
      ours.items,
      theirs.flatMap((each) => variants(each.items, root)),
      root,
      `${path}[]`,
    );
  if (!ours.properties) return [];
  const tag = ours.properties['type'];
  const wanted = tag !== undefined && tag !== true ? tag.const : undefined;
  const fitting = theirs.filter((each) => wanted === undefined || hasTag(each, wanted, root));
  if (fitting.length === 0) return [`${path} of type ${String(wanted)}`];
  return Object.entries(ours.properties).flatMap(([name, member]) => {
    const where = `${path}.${name}`;
    const found = fitting.flatMap((each) =>
      each.properties?.[name] === undefined ? [] : [each.properties[name]],
    );
    if (found.length === 0) return [where];
    if (member === true || found.some((each) => each === true)) return [];
    return foreign(
      member,
      found.flatMap((each) => variants(each, root)),
      root,
      where,
    );
  });
}

function hasTag(schema: Schema, wanted: unknown, root: Schema): boolean {
  return variants(schema.properties?.['type'], root).some(
    (each) => each.const === wanted || (each.enum ?? []).includes(wanted),
  );
}

const shapeOf = (schema: z.ZodType): Schema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;

const methodsOf = (schema: Schema): ReadonlySet<unknown> =>
  new Set(
    variants(schema, schema).flatMap((each) => {
      const method = each.properties?.['method'];
      return method === undefined || method === true ? [] : [...(method.enum ?? []), method.const];
    }),
  );

/** Parameters of one method in a union of messages. */
function paramsOf(root: Schema, method: string): readonly Schema[] {
  return variants(root, root)
    .filter((each) => {
      const tag = each.properties?.['method'];
      return tag !== undefined && tag !== true && (tag.const === method || (tag.enum ?? []).includes(method));
    })
    .flatMap((each) => variants(each.properties?.['params'], root));
}

describe('the schema that the program writes of itself', () => {
  codexTest('has every method that is called or answered', async (bed) => {
    const load = await own(bed);
    const requests = methodsOf(await load('ClientRequest'));
    for (const method of [...calledMethods, 'initialize', 'configRequirements/read'])
      expect(requests).toContain(method);
    const asked = methodsOf(await load('ServerRequest'));
    for (const method of native.requestMethods) expect(asked).toContain(method);
    const told = methodsOf(await load('ServerNotification'));
    for (const method of native.notificationMethods) expect(told).toContain(method);
  });

  codexTest('has every member of a notification and a request that is read', async (bed) => {
    const load = await own(bed);
    for (const [name, union] of [
      ['ServerNotification', native.notification],
      ['ServerRequest', native.serverRequest],
    ] as const) {
      const theirs = await load(name);
      for (const option of union.options) {
        const { method, params } = option.shape;
        expect(foreign(shapeOf(params), paramsOf(theirs, method.value), theirs, method.value)).toEqual([]);
      }
    }
  });

  codexTest('has every member of an answer that is read', async (bed) => {
    const load = await own(bed);
    const answers: readonly (readonly [string, z.ZodType])[] = [
      ['v1/InitializeResponse', native.initializeResult],
      ['v2/GetAccountResponse', native.accountResult],
      ['v2/ConfigRequirementsReadResponse', native.requirementsResult],
      ['v2/ModelListResponse', native.modelListResult],
      ['v2/SkillsListResponse', native.skillsListResult],
      ['v2/ThreadReadResponse', native.threadResult],
      ['v2/ThreadStartResponse', native.threadStartResult],
      ['v2/ThreadResumeResponse', native.threadStartResult],
      ['v2/TurnStartResponse', native.turnStartResult],
      ['v2/ThreadBackgroundTerminalsListResponse', native.terminalsResult],
    ];
    for (const [name, schema] of answers) {
      const theirs = await load(name);
      expect(foreign(shapeOf(schema), variants(theirs, theirs), theirs, name)).toEqual([]);
    }
  });
});
