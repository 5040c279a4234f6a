import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import type { McpServer } from '../../../src/harness/adapter.ts';
import { startFakeMcp, type FakeMcp } from '../../support/model-servers/fake-mcp.mjs';
import { codexTest, eventually, filesWith } from './codex-bed.ts';

const TOKEN = 'canary-token-of-the-server';
const call = (tool: string, server = 'shop'): Record<string, unknown> => ({
  steps: [{ tool, namespace: `mcp__${server}`, id: 'call_1', input: { text: 'hello' } }],
});
const done = { steps: [{ text: 'Done.' }] };
const tools = {
  echo: {
    annotations: { readOnlyHint: true },
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    run: (args: Record<string, unknown>) => `echo: ${String(args['text'])}`,
  },
  order: { run: () => 'ordered' },
  broken: {
    annotations: { readOnlyHint: true },
    run: () => {
      throw new Error('out of stock');
    },
  },
};

const http = (url: string, changes: Partial<McpServer> & { bearer?: string } = {}): McpServer => {
  const { bearer = null, ...more } = changes;
  return {
    name: 'shop',
    allowedTools: null,
    required: true,
    transport: { kind: 'http', url, bearer, headers: {} },
    ...more,
  };
};

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

/** Command lines of the whole machine that hold the text. */
async function commandLinesWith(text: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(text)) lines.push(line);
  }
  return lines;
}

describe('MCP servers over HTTP', () => {
  codexTest('are called with their token, which is in no argument, no file and no command', async (bed) => {
    await withMcp({ token: TOKEN }, async (mcp) => {
      bed.model.setScenario([
        call('echo'),
        { steps: [{ tool: 'exec_command', id: 'call_2', input: { cmd: 'env > env.txt; sleep 0.3' } }] },
        done,
      ]);
      const executor = await bed.ready({}, { prepared: { mcpServers: [http(mcp.url, { bearer: TOKEN })] } });
      const { output, turn } = await bed.start(executor, 'Work');
      const asked = await output.next('permission');
      await turn.submitPermission?.(asked.request.key, { kind: 'allow' });
      expect(await commandLinesWith(TOKEN)).toEqual([]);
      await output.end();
      expect(mcp.calls.every((each) => each.authorised)).toBe(true);
      expect(output.all('tool_call').map((event) => event.payload.observation)).toMatchObject([
        { kind: 'mcp', status: 'in_progress', server: 'shop', name: 'echo', arguments: { text: 'hello' } },
        { kind: 'mcp', status: 'completed', server: 'shop', name: 'echo', error: null },
        { kind: 'command' },
        { kind: 'command' },
      ]);
      expect(output.all('tool_call')[0]?.payload.name).toBe('mcp__shop__echo');
      expect(JSON.stringify(output.all('tool_call')[1]?.payload.observation?.output)).toContain(
        'echo: hello',
      );
      const shown = await readFile(join(bed.workspace, 'env.txt'), 'utf8');
      expect(shown).not.toContain(TOKEN);
      await executor.close();
      expect(await filesWith(bed.home, TOKEN)).toEqual([]);
      expect(await filesWith(bed.root, TOKEN)).toEqual([]);
    });
  });

  codexTest('ask the person for a tool that may change something, as a permission', async (bed) => {
    await withMcp({}, async (mcp) => {
      const executor = await bed.ready({}, { prepared: { mcpServers: [http(mcp.url)] } });
      for (const kind of ['allow', 'deny'] as const) {
        bed.model.setScenario([call('order'), done]);
        const { output, turn } = await bed.start(executor, 'Order');
        const { request } = await output.next('permission');
        expect(request).toMatchObject({
          tool: 'mcp__shop__order',
          title: 'shop: order',
          subject: { kind: 'tool', name: 'order', server: 'shop', input: { text: 'hello' } },
        });
        const answer = kind === 'allow' ? { kind } : { kind, message: null };
        expect(await turn.submitPermission?.(request.key, answer)).toBe('applied');
        await output.end();
        expect(bed.model.calls.at(-1)?.about.lastTool.includes('ordered')).toBe(kind === 'allow');
        expect(output.all('choice')).toEqual([]);
      }
      expect(mcp.calls.filter((each) => each.method === 'tools/call')).toHaveLength(1);
    });
  });

  codexTest('ask for nothing under unattended', async (bed) => {
    await withMcp({}, async (mcp) => {
      bed.model.setScenario([call('order'), done]);
      const prepared = { mcpServers: [http(mcp.url)] };
      const { output } = await bed.run(await bed.ready({}, { prepared, policy: 'unattended' }), 'Order');
      expect(output.all('permission')).toEqual([]);
      expect(bed.model.calls.at(-1)?.about.lastTool).toContain('ordered');
    });
  });

  codexTest('offer their allowed tools alone', async (bed) => {
    await withMcp({}, async (mcp) => {
      bed.model.setScenario([call('broken'), call('echo'), done]);
      const mcpServers = [http(mcp.url, { allowedTools: ['echo'] })];
      const { output } = await bed.run(await bed.ready({}, { prepared: { mcpServers } }), 'Work');
      const called = mcp.calls.flatMap((each) => (each.method === 'tools/call' ? [each.params] : []));
      expect(called).toMatchObject([{ name: 'echo' }]);
      expect(output.all('tool_call').map((event) => event.payload.observation?.name)).toEqual([
        'echo',
        'echo',
      ]);
    });
  });

  codexTest('with no allowed tool offer none', async (bed) => {
    await withMcp({}, async (mcp) => {
      bed.model.setScenario([call('echo'), done]);
      const mcpServers = [http(mcp.url, { allowedTools: [] })];
      await bed.run(await bed.ready({}, { prepared: { mcpServers } }), 'Work');
      expect(mcp.calls.some((each) => each.method === 'tools/call')).toBe(false);
    });
  });

  codexTest('tell a failed call as failed', async (bed) => {
    await withMcp({}, async (mcp) => {
      bed.model.setScenario([call('broken'), done]);
      const executor = await bed.ready({}, { prepared: { mcpServers: [http(mcp.url)] } });
      const { output } = await bed.run(executor, 'Work');
      expect(output.all('tool_call').at(-1)?.payload.observation?.status).toBe('failed');
    });
  });

  codexTest('that are required and refuse fail the preparation before any input, by name', async (bed) => {
    await withMcp({ token: TOKEN }, async (mcp) => {
      const outcome = await bed.prepare(
        {},
        { prepared: { mcpServers: [http(mcp.url, { bearer: 'wrong' })] } },
      );
      expect(outcome).toEqual({ kind: 'failed', message: expect.stringContaining('shop') as string });
      expect(bed.model.requests).toEqual([]);
      expect(bed.ledger.entries).toEqual([]);
    });
  });

  codexTest('that are not required and not there are told to the person', async (bed) => {
    bed.model.setScenario([{ ...done, repeat: true }]);
    const mcpServers = [http('http://127.0.0.1:9/mcp', { required: false })];
    const executor = await bed.ready({}, { prepared: { mcpServers } });
    // The program says so at a time of its own: during the first Turns, or between them.
    let told = 0;
    await eventually(async () => {
      const { output } = await bed.run(executor, 'Work');
      expect(output.text).toBe('Done.');
      told += output.all('notice').filter((event) => event.text.includes('shop')).length;
      return told > 0;
    });
    const { output } = await bed.run(executor, 'Work');
    told += output.all('notice').filter((event) => event.text.includes('shop')).length;
    expect(told).toBe(1);
  });

  codexTest(
    'of the Agent replace those of the person, where there is a statement about them',
    async (bed) => {
      expect(await bed.prepare()).toEqual({
        kind: 'failed',
        message: expect.stringContaining('your own Codex settings') as string,
      });
      bed.model.setScenario([done]);
      expect((await bed.run(await bed.ready({ mcp_http_servers: [] }), 'Work')).output.text).toBe('Done.');
    },
    { tables: '[mcp_servers.mine]\ncommand = "/nowhere/mine"\nrequired = true\n' },
  );

  codexTest(
    'with the name of one of the person’s are refused, since the two would be mixed',
    async (bed) => {
      const outcome = await bed.prepare({}, { prepared: { mcpServers: [http('http://127.0.0.1:9/mcp')] } });
      expect(outcome).toEqual({ kind: 'failed', message: expect.stringContaining('name') as string });
    },
    { tables: '[mcp_servers.shop]\ncommand = "/nowhere/mine"\n' },
  );
});

describe('MCP servers of a Plugin', () => {
  codexTest('are started with their arguments, folder and variables', async (bed) => {
    const script = join(bed.root, 'server.mjs');
    const { writeFile } = await import('node:fs/promises');
    await writeFile(script, STDIO_SERVER);
    const server: McpServer = {
      name: 'plugin',
      allowedTools: null,
      required: true,
      transport: {
        kind: 'stdio',
        command: process.execPath,
        args: [script, 'an argument'],
        env: { PLUGIN_SECRET: TOKEN },
        cwd: bed.root,
      },
    };
    bed.model.setScenario([call('where', 'plugin'), done]);
    const executor = await bed.ready({}, { prepared: { mcpServers: [server] } });
    const { output } = await bed.run(executor, 'Work');
    const said = bed.model.calls.at(-1)?.about.lastTool ?? '';
    expect(said).toContain(`an argument in ${bed.root} with ${TOKEN.length}`);
    expect(output.all('tool_call').at(-1)?.payload.observation).toMatchObject({
      kind: 'mcp',
      server: 'plugin',
      status: 'completed',
    });
    expect(await commandLinesWith(TOKEN)).toEqual([]);
    await executor.close();
    expect(await filesWith(bed.home, TOKEN)).toEqual([]);
  });
});

/** A server of one tool that says how it was started. */
const STDIO_SERVER = `
import readline from 'node:readline';
const reply = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') reply(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'p', version: '1' } });
  else if (method === 'tools/list') reply(id, { tools: [{ name: 'where', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }] });
  else if (method === 'tools/call') reply(id, { content: [{ type: 'text', text: process.argv[2] + ' in ' + process.cwd() + ' with ' + process.env.PLUGIN_SECRET.length }] });
  else if (id !== undefined) reply(id, {});
});
`;
