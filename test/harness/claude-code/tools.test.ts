import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { toolCallSenderRule } from '../../../src/protocol/run-output.ts';
import { claudeTest } from './claude-test.ts';

describe('what tools do', () => {
  claudeTest('a command is observed before and after, with its exact text and output', async (bed) => {
    await writeFile(join(bed.workspace, 'a.txt'), 'one\n');
    bed.model.setScenario([
      { steps: [{ tool: 'Bash', id: 'toolu_ok', input: { command: 'cat a.txt', description: 'reads it' } }] },
      { steps: [{ tool: 'Bash', id: 'toolu_bad', input: { command: 'cat missing.txt' } }] },
      { steps: [{ text: 'Done.' }] },
    ]);
    const { output } = await bed.run(await bed.ready(), 'Look');
    const calls = output.all('tool_call').map((event) => event.payload);
    expect(calls.map((call) => toolCallSenderRule(call))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(calls.slice(0, 2)).toEqual([
      {
        id: 'toolu_ok',
        name: 'Bash',
        stage: 'before',
        args: { command: 'cat a.txt', description: 'reads it' },
        observation: { kind: 'command', status: 'in_progress', command: 'cat a.txt' },
      },
      {
        id: 'toolu_ok',
        name: 'Bash',
        stage: 'after',
        result: { content: 'one', is_error: false },
        observation: { kind: 'command', status: 'completed', command: 'cat a.txt', output: 'one' },
      },
    ]);
    expect(calls[3]?.observation).toMatchObject({
      kind: 'command',
      status: 'failed',
      command: 'cat missing.txt',
    });
    expect(calls[3]?.observation?.output).toContain('missing.txt');
  });

  claudeTest('a file tool is reported raw, without an observation', async (bed) => {
    const file = join(bed.workspace, 'a.txt');
    await writeFile(file, 'one\n');
    bed.model.setScenario([
      { steps: [{ tool: 'Read', id: 'toolu_read', input: { file_path: file } }] },
      { steps: [{ text: 'Done.' }] },
    ]);
    const { output } = await bed.run(await bed.ready(), 'Look');
    const [before, after] = output.all('tool_call').map((event) => event.payload);
    expect(before).toEqual({ id: 'toolu_read', name: 'Read', stage: 'before', args: { file_path: file } });
    expect(after).toMatchObject({ id: 'toolu_read', stage: 'after', result: { is_error: false } });
    expect(after).not.toHaveProperty('observation');
  });

  claudeTest(
    'a call that the person denies is failed, one that is cut off is incomplete without output',
    async (bed) => {
      bed.model.setScenario([
        { steps: [{ tool: 'Bash', id: 'toolu_no', input: { command: 'touch no' } }] },
        { steps: [{ tool: 'Bash', id: 'toolu_cut', input: { command: 'touch yes; sleep 30' } }] },
      ]);
      const { output, turn } = await bed.start(await bed.ready(), 'Work');
      const first = await output.next('permission');
      await turn.submitPermission?.(first.request.key, { kind: 'deny', message: null });
      const second = await output.next('permission', 1);
      await turn.submitPermission?.(second.request.key, { kind: 'allow' });
      await turn.cancel();
      await turn.settlement();
      const after = output.all('tool_call').filter((event) => event.payload.stage === 'after');
      expect(after.map((event) => event.payload.observation?.status)).toEqual(['failed', 'incomplete']);
      expect(after[1]?.payload.observation).not.toHaveProperty('output');
    },
  );

  claudeTest('a tool of an MCP server is observed by its server and name', async (bed) => {
    const script = join(bed.root, 'server.mjs');
    await writeFile(script, mcpServer);
    const config = JSON.stringify({ mcpServers: { shelf: { command: process.execPath, args: [script] } } });
    await writeFile(join(bed.root, 'mcp.json'), config);
    bed.model.setScenario([
      { steps: [{ tool: 'mcp__shelf__find', id: 'toolu_mcp', input: { name: 'tea' } }] },
      { steps: [{ tool: 'mcp__shelf__find', id: 'toolu_err', input: { name: 'fail' } }] },
      { steps: [{ text: 'Done.' }] },
    ]);
    // The person's own configuration may bring servers; here it comes by an argument.
    const { ClaudeCodeAdapter } = await import('../../../src/harness/claude-code/adapter.ts');
    const { Bed, claude } = await import('../bed.ts');
    const adapter = new ClaudeCodeAdapter(bed.ports, {
      kind: 'claude_sdk',
      command: claude ?? '',
      args: ['--setting-sources', '', '--mcp-config', join(bed.root, 'mcp.json')],
      env: {
        ANTHROPIC_BASE_URL: bed.model.url,
        ANTHROPIC_API_KEY: 'not-a-real-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    });
    const other = new Bed(bed.root, bed.ledger, adapter);
    const executor = await other.ready();
    const { output, turn } = await other.start(executor, 'Find');
    for (const index of [0, 1]) {
      const asked = await output.next('permission', index);
      expect(asked.request.subject).toMatchObject({
        kind: 'tool',
        name: 'mcp__shelf__find',
        server: 'shelf',
      });
      await turn.submitPermission?.(asked.request.key, { kind: 'allow' });
    }
    await output.end();
    expect(await executor.close()).toEqual({ state: 'closed' });
    expect(output.all('tool_call').map((event) => event.payload.observation)).toMatchObject([
      { kind: 'mcp', server: 'shelf', name: 'find', status: 'in_progress', arguments: { name: 'tea' } },
      { kind: 'mcp', server: 'shelf', name: 'find', status: 'completed', output: 'found tea', error: null },
      { kind: 'mcp', status: 'in_progress' },
      { kind: 'mcp', status: 'failed', output: null },
    ]);
  });
});

/** A minimal MCP server over its pipes. */
const mcpServer = `
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const results = {
    initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'shelf', version: '1' } }),
    'tools/list': () => ({ tools: [{ name: 'find', description: 'Finds.', inputSchema: { type: 'object', properties: { name: { type: 'string' } } } }] }),
    'tools/call': () => params.arguments.name === 'fail'
      ? { content: [{ type: 'text', text: 'nothing there' }], isError: true }
      : { content: [{ type: 'text', text: 'found ' + params.arguments.name }] },
  };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: results[method]?.() ?? {} }) + '\\n');
}
`;
