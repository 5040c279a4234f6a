import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8');

const schema: unknown = JSON.parse(read('node_modules/app-builder-lib/scheme.json'));
const holds = new Ajv({ strict: false, allErrors: true }).compile(
  z.record(z.string(), z.unknown()).parse(schema),
);

/** What the builder's own schema has against a configuration: `path message (name)`. */
const faults = (configuration: unknown): readonly string[] =>
  holds(configuration)
    ? []
    : (holds.errors ?? []).map(
        ({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
      );

const Configuration = z.looseObject({
  linux: z.looseObject({ target: z.array(z.string()), icon: z.string() }),
  mac: z.looseObject({
    target: z.array(z.string()),
    icon: z.string(),
    hardenedRuntime: z.boolean(),
    entitlements: z.string(),
    entitlementsInherit: z.string(),
  }),
  win: z.looseObject({ target: z.array(z.string()), icon: z.string() }),
  nsis: z.looseObject({}),
  electronFuses: z.record(z.string(), z.boolean()),
});
const fresh = (): z.infer<typeof Configuration> =>
  Configuration.parse(parse(read('build/electron-builder.yml')));

describe('the configuration of the packages', () => {
  test('is what the schema of the builder allows, for every platform', () => {
    expect(faults(fresh())).toEqual([]);
  });

  test.each([
    ['at the top', (c) => (c['apId'] = 'x'), 'apId'],
    ['of Linux', (c) => (c.linux['executable'] = 'x'), 'executable'],
    ['of macOS', (c) => (c.mac['notarise'] = true), 'notarise'],
    ['of Windows', (c) => (c.win['targets'] = ['nsis']), 'targets'],
    ['of the installer of Windows', (c) => (c.nsis['oneclick'] = false), 'oneclick'],
    ['of the fuses', (c) => (c.electronFuses['runAsNodes'] = false), 'runAsNodes'],
  ] satisfies readonly (readonly [string, (c: ReturnType<typeof fresh>) => unknown, string])[])(
    'a wrong key %s is found',
    (_, plant, name) => {
      const planted = fresh();
      plant(planted);
      expect(faults(planted).join('\n')).toContain(`{"additionalProperty":"${name}"}`);
    },
  );

  test('a value of a wrong kind is found', () => {
    const planted = fresh();
    planted.mac['notarize'] = { teamId: 'T1' };
    expect(faults(planted).join('\n')).toContain('/mac/notarize');
  });

  test('makes what each platform installs', () => {
    const { linux, mac, win } = fresh();
    expect(linux.target).toEqual(['AppImage', 'deb', 'tar.gz']);
    expect(mac.target).toEqual(['dmg', 'zip']);
    expect(win.target).toEqual(['nsis']);
  });

  test('macOS: hardened, and what may not be kept out of it is named in a file that is there', () => {
    const { mac } = fresh();
    expect(mac.hardenedRuntime).toBe(true);
    for (const file of [mac.entitlements, mac.entitlementsInherit, mac.icon])
      expect(existsSync(`${root}/${file}`), file).toBe(true);
  });

  test('every fuse is set so that nobody gives the program other code', () => {
    expect(fresh().electronFuses).toEqual({
      runAsNode: false,
      enableNodeOptionsEnvironmentVariable: false,
      enableNodeCliInspectArguments: false,
      onlyLoadAppFromAsar: true,
      enableEmbeddedAsarIntegrityValidation: true,
    });
  });
});
