import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import type { FakeModel } from '../../support/model-servers/fake-anthropic.mjs';
import { startFakeMcp } from '../../support/model-servers/fake-mcp.mjs';
import { readProcesses } from '../../support/process-list.ts';
import { says } from '../bed.ts';
import { exampleAgent, exampleBed, openCode, openCodeBed, plain, type AcpBed } from './acp-bed.ts';

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

function openCodeTest(
  name: string,
  body: (bed: AcpBed, model: FakeModel) => Promise<void>,
  settings: Parameters<typeof openCodeBed>[0] = {},
): void {
  test.skipIf(openCode === null)(name, { timeout: 60_000 }, async () => {
    const { bed, model } = await openCodeBed(settings);
    try {
      await body(bed, model);
    } finally {
      await bed.close();
      await model.close();
    }
  });
}

describe('OpenCode', () => {
  openCodeTest(
    'a whole Turn: thought, text, a command and a file, each allowed by the person',
    async (bed, model) => {
      const file = join(bed.workspace, 'new.txt');
      const command = 'echo hi > out.txt && cat out.txt';
      model.setScenario([
        {
          steps: [
            { think: 'hm' },
            { text: 'Running.' },
            { tool: 'bash', id: 't1', input: { command, description: 'w' } },
          ],
        },
        { steps: [{ tool: 'write', id: 't2', input: { filePath: file, content: 'one\n' } }] },
        { steps: [{ text: 'Done.' }] },
      ]);
      const probe = await bed.adapter.probe();
      expect(probe).toMatchObject({ available: true, version: '1.18.33', reason: null });
      expect(probe.capabilities).toMatchObject({ permissions: true, resume: true, message_images: true });
      const executor = await bed.ready(plain);
      const { turn, output } = await bed.start(executor, 'Go');
      const first = await output.next('permission');
      expect(first.request.subject).toMatchObject({ kind: 'command', command });
      await turn.submitPermission?.(first.request.key, { kind: 'allow' });
      const second = await output.next('permission', 1);
      expect(second.request.subject).toMatchObject({
        kind: 'file_change',
        changes: [{ path: 'new.txt', insideWorkspace: true }],
      });
      await turn.submitPermission?.(second.request.key, { kind: 'allow' });
      const { payload } = await output.end();
      expect(payload.content).toBe('Done.');
      expect(output.all('thinking').length).toBeGreaterThan(0);
      expect(await readFile(join(bed.workspace, 'out.txt'), 'utf8')).toBe('hi\n');
      expect(await readFile(file, 'utf8')).toBe('one\n');
      const after = output.all('tool_call').filter(({ payload: call }) => call.stage === 'after');
      expect(after[0]?.payload.observation).toMatchObject({ kind: 'command', command, status: 'completed' });
      expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });

      model.setScenario([
        { steps: [{ tool: 'bash', id: 't4', input: { command: 'touch pwned', description: 'w' } }] },
        { steps: [{ text: 'As you wish.' }] },
      ]);
      const denied = await bed.start(executor, 'Once more');
      const { request } = await denied.output.next('permission');
      await denied.turn.submitPermission?.(request.key, { kind: 'deny', message: null });
      await denied.output.end();
      await expect(readFile(join(bed.workspace, 'pwned'))).rejects.toThrow();
    },
  );

  openCodeTest(
    'a cancel ends its command, which is seen before the Turn settles reusable',
    async (bed, model) => {
      model.setScenario([
        { steps: [{ tool: 'bash', id: 't3', input: { command: 'sleep 273; echo x', description: 's' } }] },
        { when: { lastUser: 'Again' }, steps: [{ text: 'Here.' }] },
      ]);
      const runs = async (): Promise<boolean> =>
        (await readProcesses()).some(({ args }) => args.replaceAll('\0', ' ').trim() === 'sleep 273');
      const executor = await bed.ready(plain);
      const { turn, output } = await bed.start(executor, 'Go');
      const { request } = await output.next('permission');
      await turn.submitPermission?.(request.key, { kind: 'allow' });
      while (!(await runs())) await new Promise((resolve) => setImmediate(resolve));
      await turn.cancel();
      const settlement = await turn.settlement();
      expect(settlement.kind).toBe('settled');
      if (settlement.kind === 'settled' && settlement.reusable) expect(await runs()).toBe(false);
      expect(output.all('error')).toEqual([]);
      await executor.close();
      expect(await runs()).toBe(false);
    },
  );

  openCodeTest('a conversation goes on in a new process', async (bed, model) => {
    model.setScenario([
      { when: { lastUser: 'First' }, steps: [{ text: 'One.' }] },
      { when: { lastUser: 'Second' }, steps: [{ text: 'Two.' }] },
    ]);
    const executor = await bed.ready(plain);
    await bed.run(executor, 'First words');
    const id = executor.nativeSessionId;
    await executor.close();
    const again = await bed.ready({ ...plain, agent_session_id: id });
    const { output } = await bed.run(again, 'Second words');
    expect(output.text).toBe('Two.');
    expect(JSON.stringify(model.calls.at(-1)?.body)).toContain('First words');
  });

  openCodeTest(
    'MCP servers over HTTP with a token that is in no argument; images reach the model',
    async (bed, model) => {
      const mcp = await startFakeMcp({ token: 'canary-token' });
      try {
        model.setScenario([
          { steps: [{ tool: 'shelf_echo', id: 't1', input: { text: 'hi' } }] },
          { steps: [{ text: 'Done.' }] },
        ]);
        await bed.adapter.probe();
        const executor = await bed.ready({
          ...plain,
          mcp_http_servers: [
            {
              ...{ connection_origin: 'environment', server_label: 'shelf', server_url: mcp.url },
              ...{ allowed_tools: null, bearer_token: 'canary-token' },
            },
          ],
        });
        for (const { args } of await readProcesses()) expect(args).not.toContain('canary-token');
        const { output } = await bed.run(executor, 'Go');
        expect(output.text).toBe('Done.');
        expect(mcp.calls.map((call) => call.method)).toContain('tools/call');
        model.setScenario([{ steps: [{ text: 'Seen.' }] }]);
        const content = [
          { type: 'input_text' as const, text: 'Look' },
          { type: 'input_image' as const, image_url: pixel },
        ];
        await bed.run(executor, [{ content }]);
        expect(JSON.stringify(model.calls.at(-1)?.body)).toContain('"type":"image"');
      } finally {
        await mcp.close();
      }
    },
  );

  openCodeTest(
    'more input ends the running prompt and goes on, where a person chose so',
    async (bed, model) => {
      model.setScenario([
        { when: { lastUser: 'Start' }, steps: [{ text: 'Talking' }, { stall: true }] },
        { when: { lastUser: 'More' }, steps: [{ text: 'Changed.' }] },
      ]);
      const { turn, output } = await bed.start(await bed.ready(plain), 'Start now');
      await output.next('delta');
      let written = 0;
      expect(await turn.steer?.(says('More words'), () => written++)).toEqual({ kind: 'accepted' });
      expect(written).toBe(1);
      await output.end();
      expect(output.text.endsWith('Changed.')).toBe(true);
    },
    { steering: 'cancel_and_continue' },
  );
});

describe('the example agent of the old SDK', () => {
  test.skipIf(exampleAgent === null)(
    'a Turn with a permission, and a cancel',
    { timeout: 30_000 },
    async () => {
      const bed = await exampleBed();
      try {
        const probe = await bed.adapter.probe();
        expect(probe).toMatchObject({ available: true, capabilities: { permissions: true, resume: false } });
        const executor = await bed.ready(plain);
        const { turn, output } = await bed.start(executor, 'Go');
        const { request } = await output.next('permission');
        expect(await turn.submitPermission?.(request.key, { kind: 'allow' })).toBe('applied');
        await output.end();
        expect(output.text.length).toBeGreaterThan(0);
        expect(output.all('error')).toEqual([]);
        const second = await bed.start(executor, 'Again');
        await second.output.next('permission');
        await second.turn.cancel();
        expect(await second.turn.settlement()).toEqual({ kind: 'settled', reusable: true });
        expect(second.output.all('error')).toEqual([]);
        expect(await bed.prepare({ ...plain, agent_session_id: 'x' })).toMatchObject({ kind: 'failed' });
      } finally {
        await bed.close();
      }
    },
  );
});
