import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import type { Executor } from '../../src/harness/adapter.ts';
import type { CapabilityName } from '../../src/protocol/capabilities.ts';
import { nativeSessionId } from '../../src/protocol/run-output.ts';
import { startFakeMcp, type FakeMcp } from '../support/model-servers/fake-mcp.mjs';
import { says, type Bed, type StartedTurn } from './bed.ts';

/** What a scripted model says, in the words of one Harness. */
export interface Words {
  /** Runs a shell command; under `ask` the person is asked for it. */
  command(cmd: string, id: string): Step;
  /** Calls a function of the Agent. */
  call(name: string, input: unknown, id: string): Step;
  /** Looks for functions that were held back; none where there is no such search. */
  search?(name: string, id: string): Step;
  /** Calls a function that was found by search. */
  found?(name: string, id: string): Step;
  serverTool(server: string, tool: string, id: string): Step;
  /** Gives an answer of an asked-for form. */
  answer(value: unknown, id: string): Step;
  /** Names of web search among the tools of a request. */
  readonly webSearch: RegExp;
  /** Names of tools that run sub-agents, anywhere in a request. */
  readonly subagents: RegExp;
  /** Names of tools that run code which calls tools. */
  readonly programmatic: RegExp;
  /** Gives work to a sub-agent. */
  spawn?(message: string, id: string): Step;
  /** For proofs that need a model of another kind. */
  readonly subagentModel?: string;
}
type Step = Readonly<Record<string, unknown>>;

/** A scripted model server, whichever provider it speaks for. */
export interface ScriptedModel {
  readonly requests: readonly { readonly method: string }[];
  readonly calls: readonly {
    readonly about: { readonly tools: readonly string[]; readonly lastTool: string };
    readonly body: unknown;
  }[];
  setScenario(scenario: unknown): void;
  release(gate: string): void;
  reached(gate: string): Promise<void>;
}

export interface Bench {
  readonly bed: Bed;
  readonly model: ScriptedModel;
  readonly words: Words;
  /** Changes that every configuration for this Harness needs. */
  readonly base: Readonly<Record<string, unknown>>;
}

/** How a capability is proven against a real program, and what must be refused where it is not declared. */
export interface Proof {
  readonly prove: (bench: Bench) => Promise<void>;
  /** A configuration that needs the capability; a Harness without it must refuse to prepare it. */
  readonly needs?: Readonly<Record<string, unknown>>;
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
const image = { type: 'input_image' as const, image_url: `data:image/png;base64,${PIXEL}` };
const done = { steps: [{ text: 'Done.' }] };
const controls = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  execution_controls: { web_search: 'disabled', text_verbosity: 'medium', ...changes },
});
const schema = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};
const lookup = {
  name: 'lookup',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { q: { type: 'string' } } },
};
const rare = { ...lookup, name: 'rare_lookup', description: 'Counts zebras.', defer_loading: true };

const ready = (bench: Bench, changes: Record<string, unknown> = {}): Promise<Executor> =>
  bench.bed.ready({ ...bench.base, ...changes });

/** One whole Turn in which the person allows everything. */
async function whole(bench: Bench, executor: Executor, text: string): Promise<StartedTurn> {
  const started = await bench.bed.start(executor, text);
  const { output, turn } = started;
  for (let index = 0; ; index++) {
    await output.until(() => output.all('permission').length > index);
    const asked = output.all('permission')[index];
    if (!asked) break;
    await turn.submitPermission?.(asked.request.key, { kind: 'allow' });
  }
  await output.end();
  return started;
}

const lastRequest = ({ model }: Bench): string => JSON.stringify(model.calls.at(-1)?.body);
const content = (bench: Bench, name: string): Promise<string | null> =>
  readFile(join(bench.bed.workspace, name), 'utf8').catch(() => null);

async function withServer(
  options: Parameters<typeof startFakeMcp>[0],
  body: (mcp: FakeMcp) => Promise<void>,
): Promise<void> {
  const mcp = await startFakeMcp({
    tools: { echo: { inputSchema: { type: 'object', properties: {} }, run: () => 'echoed' } },
    ...options,
  });
  try {
    await body(mcp);
  } finally {
    await mcp.close();
  }
}
const server = (url: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  mcp_http_servers: [
    {
      connection_origin: 'environment',
      server_label: 'shelf',
      server_url: url,
      allowed_tools: null,
      ...more,
    },
  ],
});
const DEAD = 'http://127.0.0.1:9/mcp';

async function answersFunction(bench: Bench, parts: readonly (typeof image)[]): Promise<void> {
  const { model, words } = bench;
  model.setScenario([{ steps: [words.call('lookup', { q: 'x' }, 'call_1')] }, done]);
  const executor = await ready(bench, { function_tools: [lookup] });
  const { output, turn } = await bench.bed.start(executor, 'Look it up');
  const { payload } = await output.next('function_call');
  expect(payload).toEqual({ call_id: 'call_1', name: 'lookup', arguments: { q: 'x' } });
  const result = { success: true, content: [{ type: 'input_text' as const, text: 'The value.' }, ...parts] };
  expect(await turn.submitFunctionResult?.('call_1', result)).toBe('applied');
  await output.end();
  expect(lastRequest(bench)).toContain('The value.');
  if (parts.length > 0) expect(lastRequest(bench)).toContain(PIXEL);
}

async function continues(bench: Bench, how: (session: string) => Record<string, unknown>): Promise<void> {
  const { model } = bench;
  model.setScenario([{ steps: [{ text: 'Noted.' }] }]);
  const first = await ready(bench);
  const session = nativeSessionId((await whole(bench, first, 'Remember 42')).turn.outcome()) ?? '';
  expect(session).not.toBe('');
  await first.close();
  model.setScenario([{ steps: [{ text: 'Forty-two.' }] }]);
  const second = await ready(bench, how(session));
  const again = await whole(bench, second, 'Which number?');
  expect(lastRequest(bench)).toContain('Remember 42');
  expect(again.output.text).toBe('Forty-two.');
  expect(nativeSessionId(again.turn.outcome())).toBe(session);
}

/** The input is written while the model talks, then read; what the model was saying may be cut off. */
async function steers(bench: Bench): Promise<readonly string[]> {
  const { model } = bench;
  model.setScenario([{ steps: [{ text: ['Talking ', { hold: 'talking' }, 'on.'] }] }, done, done]);
  const { output, turn } = await bench.bed.start(await ready(bench), 'Talk');
  await output.next('delta');
  const receipts: string[] = [];
  const steered = await turn.steer?.(says('Also this'), () => {
    receipts.push('written');
    model.release('talking');
  });
  receipts.push(steered?.kind ?? 'none');
  await output.end();
  expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
  return receipts;
}

/** A proof for each capability that a Harness can have. What is missing here is the Runtime's own. */
export const proofs: Partial<Record<CapabilityName, Proof>> = {
  streaming: {
    async prove(bench) {
      bench.model.setScenario([{ steps: [{ text: ['One ', { hold: 'talking' }, 'two.'] }] }]);
      const { output } = await bench.bed.start(await ready(bench), 'Talk');
      await output.next('delta');
      expect(output.text).toBe('One ');
      bench.model.release('talking');
      await output.end();
      expect(output.text).toBe('One two.');
    },
  },
  permissions: {
    async prove(bench) {
      const executor = await ready(bench);
      for (const kind of ['deny', 'allow'] as const) {
        bench.model.setScenario([{ steps: [bench.words.command('touch made', 'call_1')] }, done]);
        const { output, turn } = await bench.bed.start(executor, 'Work');
        const { request } = await output.next('permission');
        expect(request.subject).toMatchObject({ kind: 'command', command: 'touch made' });
        const answer = kind === 'allow' ? { kind } : { kind, message: null };
        expect(await turn.submitPermission?.(request.key, answer)).toBe('applied');
        // A Harness may end a Turn that was refused something.
        await output.end();
        expect((await content(bench, 'made')) !== null).toBe(kind === 'allow');
      }
    },
  },
  usage: {
    async prove(bench) {
      bench.model.setScenario([{ steps: [{ text: 'Counted.' }], usage: { input: 11, output: 7 } }]);
      const { turn } = await whole(bench, await ready(bench), 'Count');
      expect(turn.outcome().usage?.tokens).toMatchObject({ input_tokens: 11, output_tokens: 7 });
    },
  },
  resume: { prove: (bench) => continues(bench, (session) => ({ agent_session_id: session })) },
  native_session_recovery: {
    prove: (bench) => continues(bench, () => ({ require_existing_native_session: true })),
    needs: { require_existing_native_session: true },
  },
  steering: {
    async prove(bench) {
      expect((await steers(bench)).at(-1)).toBe('accepted');
      expect(lastRequest(bench)).toContain('Also this');
    },
  },
  durable_input_receipts: {
    async prove(bench) {
      expect(await steers(bench)).toEqual(['written', 'accepted']);
    },
  },
  durable_turns: {
    async prove(bench) {
      const executor = await ready(bench);
      bench.model.setScenario([{ steps: [{ text: ['Half ', { hold: 'talking' }, 'said.'] }] }]);
      const { output, turn } = await bench.bed.start(executor, 'Talk');
      await output.next('delta');
      await turn.cancel();
      expect(await turn.settlement()).toEqual({ kind: 'settled', reusable: true });
      expect(turn.outcome().content).toBe('Half ');
      bench.model.setScenario([done]);
      expect((await whole(bench, executor, 'Go on')).output.text).toBe('Done.');
    },
  },
  preparation: {
    async prove(bench) {
      const executor = await ready(bench);
      expect(bench.model.requests.filter(({ method }) => method === 'POST')).toEqual([]);
      expect(await executor.close()).toEqual({ state: 'closed' });
    },
  },
  message_items: {
    async prove(bench) {
      bench.model.setScenario([{ steps: [{ text: ['One ', 'two.'] }] }]);
      const { output } = await whole(bench, await ready(bench), 'Talk');
      const [began, ended, ...more] = output.all('output_message').map((event) => event.payload);
      expect(more).toEqual([]);
      expect(began?.status).toBe('in_progress');
      expect(ended).toMatchObject({ id: began?.id, status: 'completed', text: 'One two.' });
      for (const { payload } of output.all('delta')) expect(payload.item_id).toBe(began?.id);
    },
  },
  tool_observations: {
    async prove(bench) {
      bench.model.setScenario([
        { steps: [bench.words.command('echo out > made; cat made', 'call_1')] },
        done,
      ]);
      const { output } = await whole(bench, await ready(bench), 'Work');
      const seen = output.all('tool_call').map((event) => event.payload.observation);
      expect(seen[0]).toMatchObject({ kind: 'command', status: 'in_progress' });
      expect(seen.at(-1)).toMatchObject({ kind: 'command', status: 'completed' });
      expect(seen.at(-1)?.command).toContain('echo out > made; cat made');
    },
  },
  execution_controls: {
    async prove(bench) {
      bench.model.setScenario([done]);
      await whole(bench, await ready(bench, controls()), 'Talk');
      expect(bench.model.calls.at(-1)?.about.tools.join(' ')).not.toMatch(bench.words.webSearch);
    },
    needs: controls(),
  },
  web_search_control: {
    async prove(bench) {
      bench.model.setScenario([done, done]);
      await whole(bench, await ready(bench, controls({ web_search: 'live' })), 'Talk');
      expect(bench.model.calls.at(-1)?.about.tools.join(' ')).toMatch(bench.words.webSearch);
      await whole(bench, await ready(bench, controls({ web_search: 'disabled' })), 'Talk');
      expect(bench.model.calls.at(-1)?.about.tools.join(' ')).not.toMatch(bench.words.webSearch);
    },
    needs: controls({ web_search: 'live' }),
  },
  text_verbosity: {
    async prove(bench) {
      for (const text_verbosity of ['low', 'high']) {
        bench.model.setScenario([done]);
        await whole(bench, await ready(bench, controls({ text_verbosity })), 'Talk');
        expect(lastRequest(bench)).toContain(`"verbosity":"${text_verbosity}"`);
      }
    },
    needs: controls({ text_verbosity: 'low' }),
  },
  structured_output: {
    async prove(bench) {
      const asked = controls({ output_format: { type: 'json_schema', schema } });
      bench.model.setScenario([{ steps: [bench.words.answer({ answer: 'yes' }, 'call_1')] }, done]);
      const good = await whole(bench, await ready(bench, asked), 'Answer');
      const last = good.output.all('output_message').at(-1)?.payload;
      expect(last).toMatchObject({ status: 'completed', phase: 'final_answer' });
      expect(JSON.parse(last?.text ?? '')).toEqual({ answer: 'yes' });
      bench.model.setScenario([{ steps: [{ text: 'Yes.' }], repeat: true }]);
      const bad = await whole(bench, await ready(bench, asked), 'Answer');
      expect(bad.output.all('error')).toHaveLength(1);
      const ends = bad.output.all('output_message').map(({ payload }) => [payload.status, payload.phase]);
      expect(ends).not.toContainEqual(['completed', 'final_answer']);
    },
    needs: controls({ output_format: { type: 'json_schema', schema } }),
  },
  tool_search: {
    async prove(bench) {
      const { model, words } = bench;
      if (!words.search || !words.found) throw new Error('there are no words for it');
      model.setScenario([
        { steps: [words.search('rare_lookup', 'call_1')] },
        { steps: [words.found('rare_lookup', 'call_2')] },
        done,
      ]);
      const executor = await ready(bench, { tool_search: true, function_tools: [lookup, rare] });
      const { output, turn } = await bench.bed.start(executor, 'Count the zebras');
      const { payload } = await output.next('function_call');
      expect(payload).toMatchObject({ call_id: 'call_2', name: 'rare_lookup' });
      expect(JSON.stringify(model.calls[0]?.body)).not.toContain('Counts zebras.');
      expect(lastRequest(bench)).toContain('rare_lookup');
      const result = { success: true, content: [{ type: 'input_text' as const, text: 'Nine.' }] };
      expect(await turn.submitFunctionResult?.('call_2', result)).toBe('applied');
      await output.end();
    },
    needs: { tool_search: true, function_tools: [rare] },
  },
  programmatic_tool_calling_disable: {
    async prove(bench) {
      bench.model.setScenario([done]);
      const asked = controls({ disable_programmatic_tool_calling: true });
      await whole(bench, await ready(bench, asked), 'Talk');
      expect(bench.model.calls.at(-1)?.about.tools.join(' ')).not.toMatch(bench.words.programmatic);
    },
    needs: controls({ disable_programmatic_tool_calling: true }),
  },
  environment_none: {
    async prove(bench) {
      const made = join(bench.bed.root, 'made');
      bench.model.setScenario([{ steps: [bench.words.command(`touch ${made}`, 'call_1')] }, done]);
      const none = { ...bench.base, disable_execution_environment: true };
      const executor = await bench.bed.ready(none, { workspace: null });
      const { output } = await whole(bench, executor, 'Work');
      expect(output.all('permission')).toEqual([]);
      await expect(readFile(made)).rejects.toThrow();
    },
    needs: { disable_execution_environment: true },
  },
  local_environment: {
    async prove(bench) {
      bench.model.setScenario([{ steps: [bench.words.command('pwd > where', 'call_1')] }, done]);
      await whole(bench, await ready(bench), 'Work');
      expect(await content(bench, 'where')).toBe(`${bench.bed.workspace}\n`);
    },
  },
  message_images: {
    async prove(bench) {
      bench.model.setScenario([done]);
      const executor = await ready(bench);
      await bench.bed.run(executor, [{ content: [{ type: 'input_text', text: 'Look' }, image] }]);
      expect(lastRequest(bench)).toContain(PIXEL);
    },
  },
  function_tools: { prove: (bench) => answersFunction(bench, []), needs: { function_tools: [lookup] } },
  function_result_images: { prove: (bench) => answersFunction(bench, [image]) },
  mcp_http_tools: {
    prove: (bench) =>
      withServer({}, async (mcp) => {
        bench.model.setScenario([{ steps: [bench.words.serverTool('shelf', 'echo', 'call_1')] }, done]);
        const executor = await ready(bench, server(mcp.url));
        await whole(bench, executor, 'Work');
        expect(mcp.calls.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
        expect(lastRequest(bench)).toContain('echoed');
      }),
    needs: server(DEAD),
  },
  mcp_http_required: {
    prove: (bench) =>
      withServer({}, async (mcp) => {
        const outcome = await bench.bed.prepare({ ...bench.base, ...server(DEAD, { required: true }) });
        expect(outcome.kind).toBe('failed');
        expect(bench.model.requests.filter(({ method }) => method === 'POST')).toEqual([]);
        await ready(bench, server(mcp.url, { required: true }));
      }),
    needs: server(DEAD, { required: true }),
  },
  mcp_http_bearer_auth: {
    prove: (bench) =>
      withServer({ token: 'canary-token' }, async (mcp) => {
        bench.model.setScenario([{ steps: [bench.words.serverTool('shelf', 'echo', 'call_1')] }, done]);
        const executor = await ready(bench, server(mcp.url, { bearer_token: 'canary-token' }));
        const pid = bench.bed.ledger.entries[0]?.process?.pid ?? 0;
        expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('canary-token');
        await whole(bench, executor, 'Work');
        expect(mcp.calls.some(({ method }) => method === 'tools/call')).toBe(true);
        expect(mcp.calls.every(({ authorised }) => authorised)).toBe(true);
      }),
  },
  subagent_observations: {
    async prove(bench) {
      const { model, words } = bench;
      if (!words.spawn) throw new Error('there are no words for it');
      model.setScenario([
        { when: { lastUser: 'Lead' }, steps: [words.spawn('Dig', 'call_1')] },
        { when: { lastUser: 'Dig' }, steps: [{ text: ['Dug', { hold: 'child' }, '.'] }] },
        { steps: [{ text: ['Waiting ', { hold: 'lead' }, 'is over.'] }] },
        // The program hands what a sub-agent said to the one that began it.
        { steps: [{ text: 'Good.' }], repeat: true },
      ]);
      const asked = { observe_subagent_identities: true, agent_options: { model: 'made-up-1' } };
      const { output } = await bench.bed.start(await ready(bench, asked), 'Lead');
      const { payload: identity } = await output.next('subagent_identity');
      expect(identity).toMatchObject({ source_item_id: 'call_1', instructions: 'Dig' });
      model.release('child');
      await output.until(() =>
        output.all('subagent_turn').some(({ payload }) => payload.status === 'completed'),
      );
      expect(output.all('subagent_item').at(-1)?.payload).toMatchObject({
        native_id: identity.native_id,
        kind: 'output_message',
        payload: { text: 'Dug.' },
      });
      model.release('lead');
      await output.end();
      expect(output.text).toContain('Waiting is over.');
    },
    needs: { observe_subagent_identities: true },
  },
  subagent_control: {
    async prove(bench) {
      const { subagentModel: model, subagents } = bench.words;
      const other = model ? { agent_options: { model } } : {};
      for (const disable_subagents of [false, true]) {
        bench.model.setScenario([done]);
        await whole(bench, await ready(bench, { ...other, disable_subagents }), 'Talk');
        if (disable_subagents) expect(lastRequest(bench)).not.toMatch(subagents);
        else expect(lastRequest(bench)).toMatch(subagents);
      }
    },
    needs: { disable_subagents: true },
  },
};
