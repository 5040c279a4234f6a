import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CapabilitySources } from '../../../src/protocol/capability-sources.ts';
import { InstalledPackages } from '../../../src/workspace/installed-packages.ts';
import { readPluginServers } from '../../../src/workspace/plugin-servers.ts';

const identity = { environmentId: 'e', sessionId: 's' };
let root = '';
let installed: InstalledPackages;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'snapshot-')));
  installed = new InstalledPackages(join(root, 'state'), identity);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const skillText = (name: string): string => `---\nname: ${name}\ndescription: Does ${name}\n---\nText\n`;
async function put(path: string, text: string): Promise<void> {
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
async function putPlugin(folder: string, servers?: unknown): Promise<void> {
  await put(`${folder}/.codex-plugin/plugin.json`, JSON.stringify({ name: 'tools' }));
  await put(`${folder}/skills/deploy/SKILL.md`, skillText('deploy'));
  if (servers !== undefined) await put(`${folder}/.mcp.json`, JSON.stringify(servers));
}
const directories = (...names: string[]): CapabilitySources => ({
  directories: names.map((name) => join(root, name)),
});

describe('capability directories', () => {
  test('a parent gives the Skills below it, a Plugin its Skills and servers, in the order of the selection', async () => {
    await put('many/b/SKILL.md', skillText('b'));
    await put('many/b/run.sh', 'echo');
    await put('many/deep/a/SKILL.md', skillText('a'));
    await put('many/.hidden/SKILL.md', skillText('hidden'));
    await putPlugin('many/inner', { mcpServers: { never: { url: 'https://x' } } });
    await putPlugin('plugin', { docs: { command: './serve', cwd: 'bin', env_vars: ['KEY'] } });
    await rm(join(root, 'many/inner/skills'), { recursive: true });
    const sources = directories('many', 'plugin');
    await installed.finalize(sources, 'f');
    const { skills, servers } = await installed.load(sources);
    expect(skills.map(({ name }) => name)).toEqual(['b', 'a', 'deploy']);
    expect(await readFile(join(skills[0]?.folder ?? '', 'run.sh'), 'utf8')).toBe('echo');
    const cwd = join(root, 'state/capabilities/directories/1/bin');
    expect(servers).toEqual([
      { kind: 'stdio', name: 'docs', command: './serve', args: [], variables: ['KEY'], cwd },
    ]);
  });

  test('are read once: what changes or goes later does not matter', async () => {
    await put('one/SKILL.md', skillText('one'));
    const sources = directories('one');
    await installed.finalize(sources, 'f');
    await rm(join(root, 'one'), { recursive: true });
    expect((await installed.load(sources)).skills).toHaveLength(1);
  });

  test.each<[string, () => Promise<CapabilitySources>]>([
    ['a missing one', async () => directories('nothing')],
    ['a file', async () => (await put('file', ''), directories('file'))],
    [
      'a link out of it',
      async () => {
        await put('secret', 'x');
        await put('one/SKILL.md', skillText('one'));
        await symlink(join(root, 'secret'), join(root, 'one/link'));
        return directories('one');
      },
    ],
    [
      'a folder link',
      async () => {
        await put('one/SKILL.md', skillText('one'));
        await put('one/sub/x', 'x');
        await symlink(join(root, 'one/sub'), join(root, 'one/link'));
        return directories('one');
      },
    ],
    [
      'two Skills of one name',
      async () => {
        await put('one/a/SKILL.md', skillText('same'));
        await put('two/SKILL.md', skillText('same'));
        return directories('one', 'two');
      },
    ],
    ['the snapshot itself', async () => (await mkdir(join(root, 'state')), directories('state'))],
    [
      'a Plugin with hooks',
      async () => {
        await put('p/.codex-plugin/plugin.json', JSON.stringify({ name: 'p', hooks: './hooks.json' }));
        return directories('p');
      },
    ],
  ])('%s is refused and nothing is frozen', async (_, sources) => {
    await expect(installed.finalize(await sources(), 'f')).rejects.toMatchObject({ name: 'WorkspaceError' });
    expect(await installed.frozen()).toBe(false);
  });

  test('a link inside of it counts as its file', async () => {
    await put('one/SKILL.md', skillText('one'));
    await put('one/real.txt', 'text');
    await symlink(join(root, 'one/real.txt'), join(root, 'one/link.txt'));
    const sources = directories('one');
    await installed.finalize(sources, 'f');
    const folder = (await installed.load(sources)).skills[0]?.folder ?? '';
    expect(await readFile(join(folder, 'link.txt'), 'utf8')).toBe('text');
  });
});

describe('the frozen snapshot', () => {
  const sources = () => directories('one');
  beforeEach(async () => {
    await put('one/SKILL.md', skillText('one'));
    await installed.finalize(sources(), 'f');
  });
  const refused = (target = installed, wanted = sources()): Promise<void> =>
    expect(target.load(wanted)).rejects.toMatchObject({ code: 'invalid' });

  test('serves another process of this Environment and no other Environment', async () => {
    expect((await new InstalledPackages(join(root, 'state'), identity).load(sources())).skills).toHaveLength(
      1,
    );
    await refused(new InstalledPackages(join(root, 'state'), { ...identity, environmentId: 'other' }));
    await refused(new InstalledPackages(join(root, 'state'), { ...identity, sessionId: 'other' }));
  });

  test('serves its selection and no other', async () => {
    await refused(installed, {});
    await refused(installed, directories('two'));
  });

  test('changed bytes, a missing file, a new file, a changed manifest, a damaged mark: refused and left alone', async () => {
    const base = 'state/capabilities';
    const file = `${base}/directories/0/SKILL.md`;
    const original = await readFile(join(root, file), 'utf8');
    await put(file, `${original} `);
    await refused();
    expect(await readFile(join(root, file), 'utf8')).toBe(`${original} `);
    await put(file, original);
    await put(`${base}/directories/0/new`, '');
    await refused();
    await rm(join(root, base, 'directories/0/new'));
    expect((await installed.load(sources())).skills).toHaveLength(1);
    const manifest = await readFile(join(root, base, 'installed.json'), 'utf8');
    await put(`${base}/installed.json`, manifest.replace('Does one', 'Does two'));
    await refused();
    await rm(join(root, base), { recursive: true });
    await refused();
    expect(await installed.frozen()).toBe(true);
    await put('state/prepared.json', '{');
    await refused();
  });
});

describe('an Environment that was given nothing', () => {
  test('serves an empty selection alone, before and after its first execution', async () => {
    expect(await installed.load({ skills: [], directories: [] })).toEqual({ skills: [], servers: [] });
    await installed.complete('f');
    expect(await installed.frozen()).toBe(true);
    expect(await installed.load({})).toEqual({ skills: [], servers: [] });
    await expect(installed.load(directories('one'))).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('MCP servers of a Plugin', () => {
  const read = (json: unknown) => readPluginServers(Buffer.from(JSON.stringify(json)), 'plugins/0');

  test('both forms of the file, both kinds of server', () => {
    const http = { url: 'https://host/mcp', bearer_token_env_var: 'TOKEN' };
    const kept = { kind: 'http', name: 'a', url: http.url, bearerVariable: 'TOKEN', headers: {} };
    expect(read({ a: http })).toEqual([kept]);
    expect(read({ mcpServers: { a: http } })).toEqual([kept]);
    expect(read({ mcpServers: { command: 'x' } })).toMatchObject([{ name: 'mcpServers', kind: 'stdio' }]);
    expect(read({ b: { command: 'node', args: ['x.mjs'] } })).toEqual([
      { kind: 'stdio', name: 'b', command: 'node', args: ['x.mjs'], variables: [], cwd: 'plugins/0' },
    ]);
  });

  test.each([
    { a: { url: 'ftp://x' } },
    { a: { url: 'https://user:secret@x' } },
    { a: { command: 'x', env: { KEY: 'literal' } } },
    { a: { command: 'x', cwd: '../..' } },
    { a: { command: 'x', cwd: '/etc' } },
    { 'bad name': { command: 'x' } },
    { a: { command: 'x', url: 'https://x' } },
    [],
    'text',
  ])('%j is refused', (json) => {
    expect(() => read(json)).toThrow();
  });
});
