import { describe, expect, test } from 'vitest';
import { archiveLimits, readArchive } from '../../../src/workspace/zip-archive.ts';
import { checkPlugin, checkSkill } from '../../../src/workspace/capability-package.ts';
import { codeOf } from '../../support/workspace-bed.ts';
import { zipFile, type ZipEntry } from '../../support/zip-file.ts';

const read = (...entries: ZipEntry[]) => codeOf(readArchive(zipFile(entries)));

describe('an archive', () => {
  test('gives its regular files', async () => {
    const files = await readArchive(
      zipFile([
        { name: 'a/' },
        { name: 'a/b', data: 'hello' },
        { name: 'empty' },
        { name: 'raw', data: 'x', method: 0 },
      ]),
    );
    expect(files.map(({ path, data }) => [path, data.toString()])).toEqual([
      ['a/b', 'hello'],
      ['empty', ''],
      ['raw', 'x'],
    ]);
  });

  test.each([
    ['a parent', { name: '../x' }],
    ['a parent inside', { name: 'a/../../x' }],
    ['an absolute path', { name: '/etc/x' }],
    ['a drive', { name: 'C:x' }],
    ['a backslash', { name: 'a\\..\\x' }],
    ['a device name', { name: 'a/con.txt' }],
    ['a stripped ending', { name: 'a./x' }],
    ['no UTF-8', { name: Buffer.from([0x61, 0xff]) }],
    ['NUL', { name: 'a\0b' }],
    ['a link', { name: 'link', data: '/etc/passwd', mode: 0o120777 }],
    ['a device', { name: 'dev', mode: 0o020666 }],
    ['a FIFO', { name: 'pipe', mode: 0o010666 }],
    ['encryption', { name: 'x', data: 'x', flags: 1 }],
    ['a damaged file', { name: 'x', data: 'x', claimedCrc: 5 }],
    ['a size that is a lie, small', { name: 'x', data: 'x'.repeat(100_000), claimedSize: 10 }],
    ['a size that is a lie, large', { name: 'x', data: 'x', claimedSize: 10 }],
    ['two names', { name: 'x', data: 'x', localName: 'y' }],
    ['an unknown packing', { name: 'x', data: 'x', method: 12 }],
  ] satisfies [string, ZipEntry][])('with %s is refused', async (_what, entry) => {
    expect(await read({ name: 'fine', data: 'y' }, entry)).toBe('invalid');
  });

  test('names that collide where case and form do not count are refused', async () => {
    expect(await read({ name: 'a' }, { name: 'A' })).toBe('invalid');
    expect(await read({ name: 'é' }, { name: 'e\u0301' })).toBe('invalid');
    expect(await read({ name: 'a' }, { name: 'a/b' })).toBe('invalid');
    expect(await read({ name: 'x', data: 'x' }, { name: 'x', data: 'x' })).toBe('invalid');
  });

  test('bombs are refused before they are unpacked', async () => {
    const zeros = Buffer.alloc(archiveLimits.expandedBytes + 1);
    expect(await read({ name: 'bomb', data: zeros })).toBe('limit');
    // Many entries that share one body.
    const body = { name: 'x', data: Buffer.alloc(1_000_000) };
    expect(await read(body, { ...body, name: 'y', localName: 'x', shareWith: 0 })).toBe('invalid');
    expect(await read(...Array.from({ length: 1_001 }, (_, n) => ({ name: `f${n}` })))).toBe('limit');
    expect(await codeOf(readArchive(Buffer.alloc(archiveLimits.packedBytes + 1)))).toBe('limit');
  });

  test('every cut and every changed byte is refused or harmless', async () => {
    const whole = zipFile([{ name: 'a/b', data: 'hello' }]);
    for (let end = 0; end < whole.length; end++)
      expect([end, await codeOf(readArchive(whole.subarray(0, end)))]).toEqual([end, 'invalid']);
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0xff;
      const files = await readArchive(changed).catch((error: unknown) => codeOf(Promise.reject(error)));
      if (typeof files === 'string') expect(['invalid', 'limit']).toContain(files);
      else for (const file of files) expect(file.data.toString()).toBe('hello');
    }
  });
});

describe('packages', () => {
  const metadata = { type: 'inline', name: 'tidy-up', description: 'Tidies: "everything"' };
  const skill = (front: string, path = 'tidy-up/SKILL.md') => [
    { path, data: Buffer.from(`---\n${front}\n---\nText\n`) },
  ];
  const good =
    'name: tidy-up\ndescription: "Tidies: \\"everything\\""\nlicense: MIT\nmetadata:\n  author: us';

  test('a Skill has one top folder and front matter that repeats its metadata', async () => {
    expect((await checkSkill(skill(good), metadata)).map((file) => file.path)).toEqual(['SKILL.md']);
    for (const bad of [
      skill(good, 'SKILL.md'),
      skill(good, 'tidy-up/skill.md'),
      [...skill(good), { path: 'other/x', data: Buffer.from('') }],
      skill('name: tidy-up\ndescription: other'),
      skill(`${good}\nhooks: x`),
      skill(`${good}\nname: tidy-up`),
      skill('name: tidy-up\ndescription: |\n  Tidies'),
      skill('name: tidy-up\ndescription: &a x\nlicense: *a'),
      skill(`${good}\nallowed-tools: Bash`),
      [{ path: 'tidy-up/SKILL.md', data: Buffer.from('no front matter') }],
    ])
      await expect(checkSkill(bad, metadata)).rejects.toThrow();
    await expect(checkSkill(skill(good), { ...metadata, name: 'Tidy' })).rejects.toThrow();
    const folded = skill('name: tidy-up\ndescription: >\n  Tidies:\n  "everything"');
    expect(await checkSkill(folded, metadata)).toHaveLength(1);
  });

  test('a Plugin has its manifest at the root', () => {
    const plugin = (json: unknown) => [
      { path: '.codex-plugin/plugin.json', data: Buffer.from(JSON.stringify(json)) },
    ];
    expect(checkPlugin(plugin({ name: 'tidy-up', mcpServers: './.mcp.json' }), metadata)).toHaveLength(1);
    for (const bad of [
      plugin({ name: 'x' }),
      plugin({ name: 'tidy-up', mcpServers: '../x' }),
      plugin({ name: 'tidy-up', hooks: {} }),
      [],
    ])
      expect(() => checkPlugin(bad, metadata)).toThrow();
  });
});
