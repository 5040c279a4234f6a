import { mkdtemp, readFile, realpath, rm, symlink, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import type { Executor, HarnessTurn } from '../../../../src/harness/adapter.ts';
import { DemoAdapter } from '../../../../src/harness/demo/adapter.ts';
import { DEMO_FILE } from '../../../../src/harness/demo/script.ts';
import { systemRandom } from '../../../../src/platform/random.ts';
import { executionConfiguration } from '../../../../src/protocol/execution.ts';
import { doneSenderRule, toolCallSenderRule } from '../../../../src/protocol/run-output.ts';
import { Recorder } from '../../../harness/recorder.ts';
import { nothingPrepared } from '../../../support/no-preparation.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';

let workspace = '';
let clock: FakeClock;
beforeEach(async () => {
  workspace = await realpath(await mkdtemp(join(tmpdir(), 'demo-')));
  clock = new FakeClock();
});
afterEach(() => rm(workspace, { recursive: true, force: true }));

async function prepare(
  changes: Record<string, unknown> = {},
  folder: string | null = workspace,
): Promise<Executor> {
  const outcome = await new DemoAdapter({ clock, random: systemRandom }, 'demo').prepare({
    sessionId: 's',
    workspace: folder,
    stateDir: workspace,
    configuration: executionConfiguration.parse({
      agent_kind: 'demo',
      conversation_id: '',
      run_id: '',
      observe_messages: true,
      observe_tool_observations: true,
      ...changes,
    }),
    policy: 'ask',
    prepared: nothingPrepared,
  });
  if (outcome.kind !== 'ready') throw new Error(outcome.message);
  return outcome.executor;
}

interface Playing {
  readonly turn: HarnessTurn;
  readonly output: Recorder;
}
async function start(executor: Executor, text = 'Hello'): Promise<Playing> {
  const output = new Recorder();
  const started = await executor.startTurn('run', [{ content: [{ type: 'input_text', text }] }], output);
  if (started.kind !== 'turn') throw new Error(started.message);
  return { turn: started.turn, output };
}
/** Lets the demo talk until something holds, and file work finish meanwhile. */
async function play(reached: () => boolean): Promise<void> {
  for (let step = 0; step < 2_000; step++) {
    if (reached()) return;
    await clock.advance(35);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  throw new Error('the demo never came there');
}
async function toChoice(playing: Playing): Promise<string> {
  await play(() => playing.output.all('choice').length > 0);
  return (await playing.output.next('choice')).request.key;
}
async function toPermission(playing: Playing, answers: Map<string, string[]> | null): Promise<string> {
  const key = await toChoice(playing);
  const answer = answers
    ? { kind: 'answers' as const, answers }
    : { kind: 'cancelled' as const, reason: null };
  expect(await playing.turn.submitChoice?.(key, answer)).toBe('applied');
  await play(() => playing.output.all('permission').length > 0);
  return (await playing.output.next('permission')).request.key;
}
const finished = (playing: Playing): Promise<void> => play(() => playing.output.closed);
const file = (): Promise<string> => readFile(join(workspace, DEMO_FILE), 'utf8');

describe('the demo', () => {
  test('says in its first sentence that no model is at work', async () => {
    const playing = await start(await prepare());
    await toChoice(playing);
    expect(playing.output.text.split(/[.:]/)[0]).toMatch(/demo without a model/);
    expect(playing.output.all('delta').length).toBeGreaterThan(10);
  });

  test('asks one question with one and one with several answers, then for one file, and writes what it showed', async () => {
    const playing = await start(await prepare());
    await toChoice(playing);
    const { questions } = (await playing.output.next('choice')).request;
    expect(questions.map((question) => [question.multi_select ?? false, question.is_other ?? false])).toEqual(
      [
        [false, false],
        [true, true],
      ],
    );
    const [tone, sections] = questions.map((question) => question.id);
    const answers = new Map([
      [tone ?? '', ['Formal']],
      [sections ?? '', ['What was asked', 'My own\nsection']],
    ]);
    const key = await toPermission(playing, answers);
    const { request } = await playing.output.next('permission');
    const change = request.subject.kind === 'file_change' ? request.subject.changes[0] : undefined;
    expect(change).toMatchObject({ path: DEMO_FILE, kind: 'add', insideWorkspace: true });
    await expect(file()).rejects.toThrow();
    expect(await playing.turn.submitPermission?.(key, { kind: 'allow' })).toBe('applied');
    await finished(playing);
    const content = await file();
    expect(content).toContain('Good day.');
    expect(content).toContain('## My own section');
    expect(content).toContain('Formal');
    const shown = (change?.diff ?? '').split('\n').filter((line) => line.startsWith('+'));
    expect(`${shown.map((line) => line.slice(1)).join('\n')}\n`).toBe(content);
    expect(
      playing.output
        .all('tool_call')
        .map((event) => [event.payload.stage, toolCallSenderRule(event.payload)]),
    ).toEqual([
      ['before', undefined],
      ['after', undefined],
    ]);
    expect(playing.output.all('usage')).toEqual([]);
    const done = await playing.output.end();
    expect(doneSenderRule(done.payload)).toBeUndefined();
    expect(done.payload).not.toHaveProperty('usage');
    expect(await playing.turn.settlement()).toEqual({ kind: 'settled', reusable: true });
  });

  test('shows an update of a file that is there', async () => {
    await writeFile(join(workspace, DEMO_FILE), '# Agent Runtime demo\nold\n');
    const playing = await start(await prepare());
    const key = await toPermission(playing, new Map());
    const { request } = await playing.output.next('permission');
    expect(request.title).toBe(`Change ${DEMO_FILE}`);
    expect(request.subject).toMatchObject({
      changes: [{ kind: 'update', diff: expect.stringContaining('-old\n') as string }],
    });
    await playing.turn.submitPermission?.(key, { kind: 'allow' });
    await finished(playing);
    expect(await file()).not.toContain('old');
  });

  for (const answer of [{ kind: 'deny', message: null }, { kind: 'expired' }] as const) {
    test(`writes nothing when the permission is ${answer.kind}, says so and ends well`, async () => {
      const playing = await start(await prepare());
      const key = await toPermission(playing, null);
      await playing.turn.submitPermission?.(key, answer);
      await finished(playing);
      await expect(file()).rejects.toThrow();
      expect((await playing.output.end()).payload.content).toContain('nothing was written');
      expect(playing.output.all('error')).toEqual([]);
    });
  }

  test('never writes through a link, also one that appears after the change was shown', async () => {
    const outside = join(workspace, '..', `outside-${systemRandom.hex(4)}`);
    await writeFile(outside, 'precious');
    try {
      await symlink(outside, join(workspace, DEMO_FILE));
      const first = await start(await prepare());
      await toChoice(first);
      await first.turn.submitChoice?.((await first.output.next('choice')).request.key, { kind: 'expired' });
      await finished(first);
      expect(first.output.all('permission')).toEqual([]);

      await rm(join(workspace, DEMO_FILE));
      const second = await start(await prepare());
      const key = await toPermission(second, null);
      await symlink(outside, join(workspace, DEMO_FILE));
      await second.turn.submitPermission?.(key, { kind: 'allow' });
      await finished(second);
      expect((await second.output.end()).payload.content).toContain('link to another place');
      expect(await readFile(outside, 'utf8')).toBe('precious');
    } finally {
      await rm(outside);
    }
  });

  test('says so when the place is taken by a folder', async () => {
    await mkdir(join(workspace, DEMO_FILE));
    const playing = await start(await prepare());
    await toChoice(playing);
    await playing.turn.submitChoice?.((await playing.output.next('choice')).request.key, { kind: 'expired' });
    await finished(playing);
    expect((await playing.output.end()).payload.content).toContain('not a plain text file');
  });

  test('without a folder it asks no permission and writes nothing', async () => {
    for (const [changes, folder] of [
      [{}, null],
      [{ disable_execution_environment: true }, workspace],
    ] as const) {
      const playing = await start(await prepare(changes, folder));
      await playing.turn.submitChoice?.(await toChoice(playing), { kind: 'expired' });
      await finished(playing);
      expect(playing.output.all('permission')).toEqual([]);
    }
    await expect(file()).rejects.toThrow();
  });
});

describe('stopping the demo', () => {
  const points: readonly (readonly [string, (playing: Playing) => Promise<unknown>, number])[] = [
    ['at once', () => Promise.resolve(), 0],
    ['while it talks', (playing) => play(() => playing.output.all('delta').length > 5), 0],
    ['while it waits for an answer', toChoice, 1],
    ['while it waits for a permission', (playing) => toPermission(playing, null), 1],
  ];
  for (const [name, reach, withdrawn] of points) {
    test(`${name} settles reusable, withdraws what was asked, and the next Turn works`, async () => {
      const executor = await prepare();
      const playing = await start(executor);
      const key = await reach(playing);
      await playing.turn.cancel();
      await playing.turn.cancel();
      expect(await playing.turn.settlement()).toEqual({ kind: 'settled', reusable: true });
      expect(playing.output.all('withdrawn')).toHaveLength(withdrawn);
      expect(playing.output.all('done')).toHaveLength(1);
      expect(playing.output.closed).toBe(true);
      if (typeof key === 'string') {
        expect(await playing.turn.submitPermission?.(key, { kind: 'allow' })).toBe('not_pending');
        expect(await playing.turn.submitChoice?.(key, { kind: 'expired' })).toBe('not_pending');
      }
      await expect(file()).rejects.toThrow();
      expect(clock.pending).toBe(0);
      await toChoice(await start(executor));
      expect(await executor.close()).toEqual({ state: 'closed' });
    });
  }

  test('a message that is cut off is incomplete', async () => {
    const playing = await start(await prepare());
    await play(() => playing.output.all('delta').length > 5);
    await playing.turn.cancel();
    await playing.turn.settlement();
    expect(playing.output.all('output_message').map((event) => event.payload.status)).toEqual([
      'in_progress',
      'incomplete',
    ]);
    expect(playing.turn.outcome().content).toBe(playing.output.text);
  });

  test('closing ends a Turn that runs and refuses another', async () => {
    const executor = await prepare();
    const playing = await start(executor);
    await toChoice(playing);
    expect(await executor.close()).toEqual({ state: 'closed' });
    expect(playing.output.closed).toBe(true);
    const late = await executor.startTurn(
      'run',
      [{ content: [{ type: 'input_text', text: 'Hi' }] }],
      new Recorder(),
    );
    expect(late.kind).toBe('no_turn');
  });
});

describe('active input to the demo', () => {
  const text = [{ content: [{ type: 'input_text' as const, text: 'More' }] }];
  for (const [name, reach] of [
    ['while it talks', (playing: Playing) => play(() => playing.output.all('delta').length > 5)],
    ['while it waits for an answer', toChoice],
  ] as const) {
    test(`${name} is written once, then used`, async () => {
      const playing = await start(await prepare());
      await reach(playing);
      let written = 0;
      const steering = playing.turn.steer?.(text, () => written++);
      expect(written).toBe(1);
      await clock.advance(35);
      expect(await steering).toEqual({ kind: 'accepted' });
      expect(written).toBe(1);
      expect(playing.output.text).toContain('Your message arrived.');
      await playing.turn.cancel();
      await playing.turn.settlement();
    });
  }

  test('after a cancel is inactive, with an image is rejected, and neither is written', async () => {
    const playing = await start(await prepare());
    await settle();
    let written = 0;
    const image = [{ content: [{ type: 'input_image' as const, image_url: 'data:image/png;base64,AAAA' }] }];
    expect(await playing.turn.steer?.(image, () => written++)).toEqual({ kind: 'rejected' });
    await playing.turn.cancel();
    expect(await playing.turn.steer?.(text, () => written++)).toEqual({ kind: 'inactive' });
    expect(written).toBe(0);
    await playing.turn.settlement();
  });
});

describe('what the demo is asked to be', () => {
  const controls = { web_search: 'disabled', text_verbosity: 'medium' };
  test.each<[string, Record<string, unknown>]>([
    ['terse', { execution_controls: { ...controls, text_verbosity: 'low' } }],
    ['searching', { execution_controls: { ...controls, web_search: 'live' } }],
    [
      'structured',
      { execution_controls: { ...controls, output_format: { type: 'json_schema', schema: {} } } },
    ],
    ['a caller of functions', { function_tools: [{ name: 'f', description: '', parameters: {} }] }],
    ['the heir of another program', { agent_session_id: '11111111-2222-4333-8444-555555555555' }],
    ['the heir of nobody', { require_existing_native_session: true }],
  ])('%s is refused', async (_, changes) => {
    await expect(prepare(changes)).rejects.toThrow();
  });

  test('its own earlier conversation goes on under the same id', async () => {
    const first = await prepare({ execution_controls: controls });
    const second = await prepare({ agent_session_id: first.nativeSessionId, strict_resume: true });
    expect(second.nativeSessionId).toBe(first.nativeSessionId);
  });
});
