import { symlink } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { toolCallSenderRule } from '../../../src/protocol/run-output.ts';
import { says } from '../bed.ts';
import { plain, scriptedBed, scriptedTest } from './acp-bed.ts';

const edit = (bedFile: string, path: string) => ({
  update: {
    ...{
      sessionUpdate: 'tool_call',
      toolCallId: bedFile,
      title: `Edit ${path}`,
      kind: 'edit',
      status: 'pending',
    },
    rawInput: { path },
    content: [{ type: 'diff', path, oldText: 'one\n', newText: 'two\n' }],
    locations: [{ path }],
  },
});

describe('what an agent says', () => {
  scriptedTest(
    'messages, thoughts, tools and a plan, in their order, with one end',
    [
      {
        steps: [
          { think: 'let me see' },
          { text: 'Working on it.', messageId: 'm1' },
          { plan: ['first', 'second'] },
          { tool: 'c1', title: 'Run ls', kind: 'execute', input: { command: 'ls' }, output: 'a\nb' },
          { tool: 'c2', title: 'Broken', kind: 'search', fails: true, output: 'nothing' },
          { update: { sessionUpdate: 'something_new', secret: 1 } },
          { usage: { used: 10, size: 100 } },
          { text: 'Done.', messageId: 'm2' },
        ],
      },
    ],
    async (bed) => {
      const { output, turn } = await bed.run(await bed.ready(plain), 'Go');
      expect(output.text).toBe('Working on it.Done.');
      expect(
        output
          .all('thinking')
          .map((event) => event.payload.text)
          .join(''),
      ).toBe('let me see');
      expect(output.all('output_message').map((event) => event.payload)).toEqual([
        { id: 'm1', status: 'in_progress' },
        { id: 'm1', status: 'completed', text: 'Working on it.' },
        { id: 'm2', status: 'in_progress' },
        { id: 'm2', status: 'completed', text: 'Done.' },
      ]);
      const calls = output.all('tool_call').map((event) => event.payload);
      for (const call of calls) expect(toolCallSenderRule(call)).toBeUndefined();
      expect(calls.map(({ id, stage, observation }) => [id, stage, observation?.status])).toEqual([
        ['c1', 'before', 'in_progress'],
        ['c1', 'after', 'completed'],
        ['c2', 'before', undefined],
        ['c2', 'after', undefined],
      ]);
      expect(calls[1]?.observation).toMatchObject({ kind: 'command', command: 'ls', output: 'a\nb' });
      expect(calls[3]?.result).toEqual({ content: 'nothing', is_error: true });
      expect(output.all('notice').map((event) => event.text)).toEqual(['Plan:\n· first\n· second']);
      expect(output.all('usage')).toEqual([]);
      expect((await output.end()).payload).toMatchObject({
        content: 'Done.',
        metadata: { agent_session_type: 'acp_session' },
      });
      expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
    },
  );

  scriptedTest(
    'stops and failures are errors of their own kind; nothing is guessed from words',
    [
      { steps: [{ text: 'Long' }], stop: 'max_tokens' },
      { steps: [], stop: 'refusal' },
      { steps: [], error: { code: -32603, message: 'rate limit exceeded' } },
      { steps: [], error: { code: -32000, message: 'sign in' } },
    ],
    async (bed) => {
      const executor = await bed.ready(plain);
      const errors = [];
      for (let turn = 0; turn < 4; turn++) {
        const { output } = await bed.run(executor, 'Go');
        errors.push(...output.all('error').map((event) => event.payload));
      }
      expect(errors).toEqual([
        { error: 'The agent reached the limit of its answer.' },
        { error: 'The agent refused to go on.' },
        { error: 'rate limit exceeded' },
        { error: 'sign in', code: 'authentication_error' },
      ]);
    },
  );

  scriptedTest(
    'an agent that does not stop talking: everything is streamed, and what is kept for the end is bounded',
    [{ steps: Array.from({ length: 60 }, () => ({ text: ['x'.repeat(64 * 1024)], messageId: 'm' })) }],
    async (bed) => {
      const { output } = await bed.run(await bed.ready(plain), 'Go');
      expect(output.text.length).toBe(60 * 64 * 1024);
      expect(output.all('output_message')[1]?.payload).toEqual({ id: 'm', status: 'completed' });
      const { payload } = await output.end();
      expect(payload.content.length).toBeLessThan(1_100_000);
      expect(payload.content.endsWith('[cut]')).toBe(true);
    },
  );

  scriptedTest(
    'a reader that takes nothing more keeps no cancel from the agent',
    [{ steps: [...Array.from({ length: 50 }, (_, index) => ({ text: `${index} ` })), { stall: true }] }],
    async (bed) => {
      const executor = await bed.ready(plain);
      const { turn, output } = await bed.start(executor, 'Go');
      let open: () => void = () => undefined;
      output.gate = new Promise((resolve) => (open = resolve));
      await output.until(() => output.events.length > 0);
      const held = output.events.length;
      await turn.cancel();
      expect(output.events.length).toBe(held);
      open();
      expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
      await output.end();
    },
  );
});

describe('permissions', () => {
  const asks = (input: unknown, more = {}) => ({
    ...{ tool: 'c1', title: 'Run it', kind: 'execute', input, permission: true, output: 'ran' },
    ...more,
  });

  scriptedTest(
    'a command is shown as one; allowed once and denied reach the agent as its own options',
    [{ steps: [asks({ command: 'rm -r x' })] }, { steps: [asks({ command: 'rm -r y' })] }],
    async (bed) => {
      const executor = await bed.ready(plain);
      for (const [kind, result] of [
        ['allow', 'ran'],
        ['deny', 'refused'],
      ] as const) {
        const { turn, output } = await bed.start(executor, 'Go');
        const asked = await output.next('permission');
        expect(asked.request).toMatchObject({ title: 'Run it', subject: { kind: 'command' } });
        const answer = kind === 'allow' ? ({ kind } as const) : ({ kind, message: null } as const);
        expect(await turn.submitPermission?.(asked.request.key, answer)).toBe('applied');
        expect(await turn.submitPermission?.(asked.request.key, answer)).toBe('not_pending');
        await output.end();
        expect(output.all('tool_call')[1]?.payload.result).toMatchObject({ content: result });
      }
    },
  );

  const change = (id: string, path: string) => ({
    steps: [
      edit(id, path),
      { tool: id, title: 'Edit', kind: 'edit', permission: true, input: { path }, output: '' },
    ],
  });

  scriptedTest(
    'a change is shown as a diff, and whether it lies in the folder is found out behind links',
    [change('c0', 'a.txt'), change('c1', 'link/outside.txt')],
    async (bed) => {
      await symlink(bed.root, join(bed.workspace, 'link'));
      const executor = await bed.ready(plain);
      const seen = [];
      for (let index = 0; index < 2; index++) {
        const { turn, output } = await bed.start(executor, 'Go');
        const { request } = await output.next('permission');
        seen.push([request.subject, request.isEditInside]);
        await turn.submitPermission?.(request.key, { kind: 'deny', message: null });
        await output.end();
      }
      const file = { kind: 'update', diff: '@@ -1,1 +1,1 @@\n-one\n+two\n' };
      expect(seen).toMatchObject([
        [{ kind: 'file_change', changes: [{ ...file, path: 'a.txt', insideWorkspace: true }] }, true],
        [{ kind: 'file_change', changes: [{ ...file, insideWorkspace: false }] }, undefined],
      ]);
    },
  );

  scriptedTest(
    'questions are asked with their kinds, and answers come back in the types that were asked for',
    [
      {
        steps: [
          {
            ask: 'Which?',
            schema: {
              type: 'object',
              properties: {
                color: {
                  type: 'string',
                  oneOf: [
                    { const: 'r', title: 'Red' },
                    { const: 'b', title: 'Blue' },
                  ],
                },
                many: { type: 'array', items: { type: 'string', enum: ['x', 'y'] } },
                count: { type: 'integer', title: 'How many' },
                sure: { type: 'boolean' },
                free: { type: 'string', format: 'password' },
              },
            },
          },
        ],
      },
    ],
    async (bed) => {
      const { turn, output } = await bed.start(await bed.ready(plain), 'Go');
      const { request } = await output.next('choice');
      expect(
        request.questions.map(({ id, multi_select, is_other, is_secret, options }) => [
          ...[id, multi_select ?? false, is_other ?? false, is_secret ?? false],
          options.map(({ label }) => label).join(),
        ]),
      ).toEqual([
        ['color', false, false, false, 'Red,Blue'],
        ['many', true, false, false, 'x,y'],
        ['count', false, true, false, ''],
        ['sure', false, false, false, 'Yes,No'],
        ['free', false, true, true, ''],
      ]);
      const answers = new Map([
        ['color', ['Blue']],
        ['many', ['x', 'y']],
        ['count', ['3']],
        ['sure', ['No']],
      ]);
      expect(await turn.submitChoice?.(request.key, { kind: 'answers', answers })).toBe('applied');
      await output.end();
      expect(JSON.parse(output.text)).toEqual({ color: 'b', many: ['x', 'y'], count: 3, sure: false });
    },
  );

  scriptedTest(
    'a cancel withdraws what was asked, and the Turn settles',
    [{ steps: [asks({ command: 'x' }), { stall: true }] }, { steps: [{ text: 'Two.' }] }],
    async (bed) => {
      const executor = await bed.ready(plain);
      const { turn, output } = await bed.start(executor, 'Go');
      const { request } = await output.next('permission');
      await turn.cancel();
      expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
      expect(output.all('withdrawn')).toEqual([{ type: 'withdrawn', key: request.key }]);
      expect(await turn.submitPermission?.(request.key, { kind: 'allow' })).toBe('not_pending');
      expect(output.all('error')).toEqual([]);
      expect((await bed.run(executor, 'Again')).output.text).toBe('Two.');
    },
  );
});

describe('ends', () => {
  scriptedTest(
    'an agent that ignores a cancel is not settled, and closing it ends it',
    [{ steps: [{ text: 'Hm.' }, { stall: true }], ignoreCancel: true }],
    async (bed) => {
      const executor = await bed.ready(plain);
      const { turn, output } = await bed.start(executor, 'Go');
      await output.next('delta');
      await turn.cancel();
      expect(await turn.settlement()).toMatchObject({ kind: 'failed' });
      expect(await executor.close()).toEqual({ state: 'closed' });
      expect(await turn.settlement()).toMatchObject({ kind: 'settled', reusable: false });
      await output.end();
    },
  );

  scriptedTest(
    'a crash in a Turn is an error, and its Executor is of no more use',
    [{ steps: [{ text: 'So' }, { crash: 3 }] }],
    async (bed) => {
      const executor = await bed.ready(plain);
      const { turn, output } = await bed.run(executor, 'Go');
      expect(output.all('error')).toHaveLength(1);
      expect(output.all('output_message')[1]?.payload.status).toBe('incomplete');
      expect(await turn.settlement()).toMatchObject({ kind: 'settled', reusable: false });
      await executor.broken;
      expect(await executor.startTurn('run-x', says('Again'), output)).toMatchObject({ kind: 'no_turn' });
    },
  );

  scriptedTest(
    'stray lines are passed over',
    [{ steps: [{ notJson: 'Loading…' }, { notJson: '[1,2' }, { text: 'Fine.' }] }],
    async (bed) => {
      expect((await bed.run(await bed.ready(plain), 'Go')).output.text).toBe('Fine.');
    },
  );

  scriptedTest(
    'a hundred Turns one after the other',
    Array.from({ length: 100 }, () => ({ steps: [{ text: 'x' }] })),
    async (bed) => {
      const executor = await bed.ready(plain);
      for (let turn = 0; turn < 100; turn++) {
        const { output, turn: done } = await bed.run(executor, 'Go');
        expect(output.text).toBe('x');
        expect(await done.settlement()).toEqual({ kind: 'settled', reusable: true });
      }
    },
  );
});

describe('input while it works', () => {
  const working = [{ steps: [{ text: 'One.' }, { stall: true }] }, { steps: [{ text: 'Two.' }] }];

  scriptedTest('is unsupported by default', working, async (bed) => {
    const { turn, output } = await bed.start(await bed.ready(plain), 'Go');
    await output.next('delta');
    expect(await turn.steer?.(says('More'), () => undefined)).toEqual({ kind: 'unsupported' });
    expect((await bed.adapter.probe()).capabilities.steering).toBe(false);
    await turn.cancel();
    await turn.settlement();
  });

  scriptedTest(
    'where a person chose so, ends the running prompt and goes on in the same Turn',
    working,
    async (bed) => {
      const { turn, output } = await bed.start(await bed.ready(plain), 'Go');
      await output.next('delta');
      let written = 0;
      expect(await turn.steer?.(says('More'), () => written++)).toEqual({ kind: 'accepted' });
      expect(written).toBe(1);
      await output.end();
      expect(output.text).toBe('One.Two.');
      expect(output.all('output_message').map((event) => event.payload.status)).toEqual([
        ...['in_progress', 'incomplete', 'in_progress', 'completed'],
      ]);
      expect(output.all('done')).toHaveLength(1);
    },
    { steering: 'cancel_and_continue' },
  );

  scriptedTest(
    'that cannot be submitted in time is refused and never submitted later',
    [{ steps: [{ text: 'One.' }, { stall: true }], ignoreCancel: true }],
    async (bed) => {
      const executor = await bed.ready(plain);
      const { turn, output } = await bed.start(executor, 'Go');
      await output.next('delta');
      expect(await turn.steer?.(says('More'), () => undefined)).toEqual({ kind: 'rejected' });
      await executor.close();
    },
    { steering: 'cancel_and_continue' },
  );
});

describe('what an agent can do', () => {
  scriptedTest('is declared from its own answers', { replies: [], capabilities: {} }, async (bed) => {
    const { available, capabilities } = await bed.adapter.probe();
    expect(available).toBe(true);
    expect(capabilities).toMatchObject({
      ...{ streaming: true, permissions: true, preparation: true, local_environment: true },
      ...{ resume: false, message_images: false, mcp_http_tools: false, steering: false, usage: false },
      ...{ execution_controls: false, function_tools: false, environment_none: false },
    });
  });

  scriptedTest('more, where it says more', { replies: [] }, async (bed) => {
    expect((await bed.adapter.probe()).capabilities).toMatchObject({
      ...{ resume: true, message_images: true, mcp_http_tools: true, mcp_http_bearer_auth: true },
    });
  });

  scriptedTest(
    'an agent without a sign-in is unavailable and says so',
    { replies: [], authRequired: true },
    async (bed) => {
      expect(await bed.adapter.probe()).toMatchObject({
        available: false,
        reason: expect.stringContaining('not signed in') as string,
      });
      expect(await bed.prepare(plain)).toMatchObject({ kind: 'failed' });
    },
  );

  scriptedTest(
    'a conversation is continued by its id, and one that is gone is not started over',
    { replies: [{ steps: [{ text: 'Back.' }] }], sessions: ['known'] },
    async (bed) => {
      const executor = await bed.ready({ ...plain, agent_session_id: 'known' });
      expect(executor.nativeSessionId).toBe('known');
      expect((await bed.run(executor, 'Go')).output.text).toBe('Back.');
      expect(await bed.prepare({ ...plain, agent_session_id: 'gone' })).toMatchObject({
        kind: 'failed',
        message: expect.stringContaining('any more') as string,
      });
    },
  );

  scriptedTest(
    'where it only loads a conversation, what it says again while loading is no output',
    {
      replies: [{ steps: [{ text: 'Back.' }] }],
      sessions: ['known'],
      capabilities: { loadSession: true },
    },
    async (bed) => {
      expect((await bed.adapter.probe()).capabilities.resume).toBe(true);
      const executor = await bed.ready({ ...plain, agent_session_id: 'known' });
      expect((await bed.run(executor, 'Go')).output.text).toBe('Back.');
    },
  );

  scriptedTest('what the protocol has no word for is refused', { replies: [] }, async (bed) => {
    for (const changes of [
      {},
      { ...plain, system_prompt: 'Be brief.' },
      { ...plain, function_tools: [{ name: 'f', description: '', parameters: {} }] },
      { ...plain, disable_subagents: true },
      { ...plain, harness_config: { a: 1 } },
    ])
      expect(await bed.prepare(changes)).toMatchObject({ kind: 'failed' });
  });

  test('something that is no agent is unavailable', async () => {
    const bed = await scriptedBed([], { args: ['-e', 'setInterval(() => console.log("hello"), 1)'] });
    expect(await bed.adapter.probe()).toMatchObject({ available: false });
    await bed.close();
  });
});
