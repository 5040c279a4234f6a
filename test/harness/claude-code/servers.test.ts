import { readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { readProcesses } from '../../support/process-list.ts';
import { startFakeMcp, type FakeMcp } from '../../support/model-servers/fake-mcp.mjs';
import { claudeTest } from './claude-test.ts';

const none = { type: 'object', properties: {} };
const tools = {
  echo: { inputSchema: none, run: () => 'echoed' },
  wipe: { inputSchema: none, annotations: { readOnlyHint: true }, run: () => 'wiped' },
};
const server = (mcp: FakeMcp | { url: string }, more: Record<string, unknown> = {}) => ({
  connection_origin: 'environment',
  server_label: 'shelf',
  server_url: mcp.url,
  allowed_tools: null,
  ...more,
});
const uses = (name: string, id: string) => ({ steps: [{ tool: `mcp__shelf__${name}`, id, input: {} }] });

async function withMcp(
  options: Parameters<typeof startFakeMcp>[0],
  body: (mcp: FakeMcp) => Promise<void>,
): Promise<void> {
  const mcp = await startFakeMcp({ tools, ...options });
  try {
    await body(mcp);
  } finally {
    await mcp.close();
  }
}

describe('MCP servers over HTTP', () => {
  claudeTest('their tools are asked for and used; the token is in no argument and no file', (bed) =>
    withMcp({ token: 'canary-token' }, async (mcp) => {
      bed.model.setScenario([uses('echo', 'toolu_e'), { steps: [{ text: 'Done.' }] }]);
      const executor = await bed.ready({
        mcp_http_servers: [server(mcp, { required: true, bearer_token: 'canary-token' })],
      });
      for (const { args, environment } of await readProcesses()) {
        expect(args).not.toContain('canary-token');
        expect(environment).not.toContain('canary-token');
      }
      const { turn, output } = await bed.start(executor, 'Go');
      const asked = await output.next('permission');
      expect(asked.request.subject).toMatchObject({
        kind: 'tool',
        server: 'shelf',
        name: 'mcp__shelf__echo',
      });
      await turn.submitPermission?.(asked.request.key, { kind: 'allow' });
      await output.end();
      expect(output.all('tool_call')[1]?.payload.observation).toMatchObject({
        ...{ kind: 'mcp', server: 'shelf', name: 'echo', status: 'completed', output: 'echoed' },
      });
      const { execFileSync } = await import('node:child_process');
      expect(() => execFileSync('grep', ['-rl', 'canary-token', bed.root])).toThrow();
    }),
  );

  claudeTest(
    'a required one that is dead, or refuses the token, ends the preparation before any input',
    (bed) =>
      withMcp({ token: 'right' }, async (mcp) => {
        const required = { required: true, bearer_token: 'wrong' };
        for (const dead of [server(mcp, required), server({ url: 'http://127.0.0.1:9/mcp' }, required)]) {
          const outcome = await bed.prepare({ mcp_http_servers: [dead] });
          expect(outcome).toMatchObject({
            kind: 'failed',
            message: expect.stringContaining('shelf') as string,
          });
          expect(outcome).not.toHaveProperty('resource');
        }
        expect(bed.model.calls).toEqual([]);
      }),
  );

  claudeTest('a required one may start slowly; one that is not required keeps nobody from working', (bed) =>
    withMcp({ initDelayMs: 1_500 }, async (mcp) => {
      bed.model.setScenario([{ steps: [{ text: 'One.' }] }]);
      const executor = await bed.ready({
        mcp_http_servers: [
          server(mcp, { required: true }),
          server({ url: 'http://127.0.0.1:9/mcp' }, { server_label: 'dead' }),
        ],
      });
      expect(mcp.calls.map((call) => call.method)).toContain('tools/list');
      const { output } = await bed.run(executor, 'Go');
      expect(output.text).toBe('One.');
    }),
  );

  claudeTest('a tool that is not on the list is neither offered nor run, whatever a rule says', (bed) =>
    withMcp({}, async (mcp) => {
      await mkdir(join(bed.root, 'home/.claude'), { recursive: true });
      const rule = JSON.stringify({ permissions: { allow: ['mcp__shelf'] } });
      await writeFile(join(bed.root, 'home/.claude/settings.json'), rule);
      bed.model.setScenario([
        uses('wipe', 'toolu_w'),
        uses('echo', 'toolu_e'),
        { steps: [{ text: 'Done.' }] },
      ]);
      const executor = await bed.ready({ mcp_http_servers: [server(mcp, { allowed_tools: ['echo'] })] });
      const { turn, output } = await bed.start(executor, 'Go');
      const asked = await output.next('permission');
      expect(asked.request.tool).toBe('mcp__shelf__echo');
      await turn.submitPermission?.(asked.request.key, { kind: 'allow' });
      await output.end();
      expect(output.text).toBe('Done.');
      const run = mcp.calls.filter((call) => call.method === 'tools/call').map((call) => call.params);
      expect(run).toMatchObject([{ name: 'echo' }]);
      expect(bed.model.calls[0]?.about.tools).not.toContain('mcp__shelf__wipe');
    }),
  );

  claudeTest('an empty list allows nothing', (bed) =>
    withMcp({}, async (mcp) => {
      bed.model.setScenario([uses('echo', 'toolu_e'), { steps: [{ text: 'Done.' }] }]);
      const executor = await bed.ready({ mcp_http_servers: [server(mcp, { allowed_tools: [] })] });
      await bed.run(executor, 'Go');
      expect(mcp.calls.map((call) => call.method)).not.toContain('tools/call');
    }),
  );
});

describe('what an Environment was prepared with', () => {
  /** A server that answers over its pipes and writes down its folder and environment. */
  const script = `
    const { writeFileSync } = require('node:fs');
    writeFileSync(process.argv[2], JSON.stringify({ cwd: process.cwd(), key: process.env.KEY, pid: process.pid }));
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      const results = {
        initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
        'tools/list': { tools: [{ name: 'hello', inputSchema: { type: 'object', properties: {} } }] },
        'tools/call': { content: [{ type: 'text', text: 'hi' }] },
      };
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }));
    });
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1000);
  `;

  claudeTest(
    "a Plugin's program runs in its package with its own variables, and ends with the Executor",
    async (bed) => {
      const folder = join(bed.root, 'package');
      await mkdir(folder);
      await writeFile(join(folder, 'server.cjs'), script);
      const facts = join(bed.root, 'facts.json');
      bed.model.setScenario([
        { steps: [{ tool: 'mcp__pack__hello', id: 'toolu_h', input: {} }] },
        { steps: [{ text: 'Done.' }] },
      ]);
      const executor = await bed.ready(
        {},
        {
          prepared: {
            mcpServers: [
              {
                ...{ name: 'pack', allowedTools: null, required: true },
                transport: {
                  ...{ kind: 'stdio', command: process.execPath, args: ['./server.cjs', facts] },
                  ...{ env: { KEY: 'canary-key' }, cwd: folder },
                },
              },
            ],
          },
        },
      );
      for (const { args } of await readProcesses()) expect(args).not.toContain('canary-key');
      const { turn, output } = await bed.start(executor, 'Go');
      const asked = await output.next('permission');
      await turn.submitPermission?.(asked.request.key, { kind: 'allow' });
      await output.end();
      const seen = JSON.parse(await readFile(facts, 'utf8')) as { cwd: string; key: string; pid: number };
      expect(seen).toMatchObject({ cwd: folder, key: 'canary-key' });
      expect(await executor.close()).toEqual({ state: 'closed' });
      expect(() => readFileSync(`/proc/${seen.pid}/stat`)).toThrow();
    },
  );

  claudeTest('Skills are offered and used, from copies that nothing changes', async (bed) => {
    const folder = join(bed.root, 'tidy');
    await mkdir(folder);
    await writeFile(
      join(folder, 'SKILL.md'),
      '---\nname: tidy\ndescription: Tidies UNIQUE\n---\nBODY-OF-SKILL\n',
    );
    await writeFile(join(folder, 'data.txt'), 'data');
    await chmod(join(folder, 'data.txt'), 0o400);
    bed.model.setScenario([
      { steps: [{ tool: 'Skill', id: 'toolu_s', input: { skill: 'installed:tidy' } }] },
      { steps: [{ text: 'Tidy.' }] },
    ]);
    const skills = [{ name: 'tidy', description: 'Tidies UNIQUE', folder }];
    await bed.run(await bed.ready({}, { prepared: { skills } }), 'Go');
    expect(JSON.stringify(bed.model.calls[0]?.body)).toContain('Tidies UNIQUE');
    expect(JSON.stringify(bed.model.calls[1]?.body)).toContain('BODY-OF-SKILL');
    expect(JSON.stringify(bed.model.calls[1]?.body)).not.toContain(`${folder}/`);
  });

  claudeTest('a Skill that would run a command while it is loaded is refused', async (bed) => {
    const folder = join(bed.root, 'bad');
    await mkdir(folder);
    await writeFile(join(folder, 'SKILL.md'), '---\nname: bad\ndescription: d\n---\nNow: !`touch pwned`\n');
    const skills = [{ name: 'bad', description: 'd', folder }];
    expect(await bed.prepare({}, { prepared: { skills } })).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('bad') as string,
    });
  });

  claudeTest(
    "prepared variables are in the environment of the agent's commands, first in its search path",
    async (bed) => {
      bed.model.setScenario([
        { steps: [{ tool: 'Bash', id: 'toolu_b', input: { command: 'echo "$KEY $PATH" > out.txt' } }] },
        { steps: [{ text: 'Done.' }] },
      ]);
      const variables = { KEY: 'canary-value', PATH: '/prepared/bin' };
      const executor = await bed.ready({}, { prepared: { variables } });
      for (const { args } of await readProcesses()) expect(args).not.toContain('canary-value');
      const { turn, output } = await bed.start(executor, 'Go');
      const asked = await output.next('permission');
      await turn.submitPermission?.(asked.request.key, { kind: 'allow' });
      await output.end();
      expect(await readFile(join(bed.workspace, 'out.txt'), 'utf8')).toMatch(
        /^canary-value \/prepared\/bin:/,
      );
    },
  );
});
