#!/usr/bin/env node
// A fake model server that speaks the OpenAI Responses API with SSE streaming,
// enough for a real `codex app-server` to run whole turns against it.
//
//   node fake-openai.mjs --scenario turn.json --port 0
//   FAKE_SCENARIO='[{"steps":[{"text":"hello"}]}]' node fake-openai.mjs
//
// or in a test:  const fake = await startFakeOpenAI({ scenario })
//
// A scenario is a list of replies; every POST …/responses takes the first unused
// one that fits. README.md beside this file has the whole format.
//
//   { "steps": [ { "think": "…" },
//                { "text": "…", "phase": "commentary" },
//                { "tool": "exec_command", "input": { "cmd": "ls" } },
//                { "customTool": "apply_patch", "input": "*** Begin Patch…" },
//                { "wait": 200 }, { "hold": "gate" }, { "stall": true }, { "drop": true },
//                { "streamError": { "code": "context_length_exceeded", "message": "…" } } ],
//     "usage": { "input": 10, "cached": 2, "output": 5, "reasoning": 1 },
//     "http": 429, "message": "…", "code": "…", "headers": { "retry-after": "1" },
//     "error": "context_length" | "quota" | "overloaded" | "rate_limit" }

import { pieces, runAsProgram, sendEvent, startFakeModel } from './fake-model.mjs';
import { setTimeout as sleep } from 'node:timers/promises';

let counter = 0;
const id = (prefix) => `${prefix}_${Date.now().toString(36)}${(counter += 1).toString(36).padStart(4, '0')}`;

const textOf = (content) => {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('');
};

function describe(body) {
  const input = Array.isArray(body.input) ? body.input : [];
  const users = input.filter((item) => item.type === 'message' && item.role === 'user');
  const outputs = input.filter((item) => /_call_output$/.test(item.type ?? ''));
  const last = outputs.at(-1)?.output;
  const names = (tools) =>
    (tools ?? []).flatMap((tool) =>
      tool.type === 'namespace' ? [tool.name, ...names(tool.tools)] : [tool.name ?? tool.type],
    );
  return {
    model: body.model,
    system: [
      body.instructions,
      ...input.filter((item) => item.role === 'developer').map((item) => textOf(item.content)),
    ].join('\n'),
    lastUser: textOf(users.at(-1)?.content),
    lastTool: last === undefined ? '' : typeof last === 'string' ? last : JSON.stringify(last),
    // Newer models get their tools inside the input instead of the top-level list.
    tools: names([
      ...(body.tools ?? []),
      ...input.flatMap((item) => (item.type === 'additional_tools' ? item.tools : [])),
    ]),
  };
}

// What the real service answers for the named failures. The first group comes
// inside a stream that began with 200; the rest are plain HTTP errors.
const streamFailures = {
  context_length: {
    code: 'context_length_exceeded',
    message: 'Your input exceeds the context window of this model.',
  },
  quota: { code: 'insufficient_quota', message: 'You exceeded your current quota.' },
  rate_limit: { code: 'rate_limit_exceeded', message: 'Rate limit reached. Please try again in 1s.' },
  overloaded: { code: 'server_is_overloaded', message: 'The server is overloaded.' },
  server_error: { code: 'server_error', message: 'The server had an error.' },
  invalid_prompt: { code: 'invalid_prompt', message: 'Invalid prompt.' },
  cyber_policy: { code: 'cyber_policy', message: 'This request was refused by policy.' },
};

const httpDefaults = {
  400: { type: 'invalid_request_error', code: null, message: 'Bad request.' },
  401: { type: 'invalid_request_error', code: 'invalid_api_key', message: 'Incorrect API key provided.' },
  403: { type: 'permission_error', code: null, message: 'Forbidden.' },
  404: { type: 'invalid_request_error', code: 'model_not_found', message: 'The model does not exist.' },
  429: { type: 'requests', code: 'rate_limit_exceeded', message: 'Rate limit reached.' },
  500: { type: 'server_error', code: null, message: 'The server had an error.' },
  503: { type: 'server_error', code: 'server_is_overloaded', message: 'The server is overloaded.' },
};

function httpError(reply) {
  if (!reply.http) return undefined;
  const base = httpDefaults[reply.http] ?? {
    type: 'server_error',
    code: null,
    message: `HTTP ${reply.http}`,
  };
  const error = {
    ...base,
    ...(reply.code && { code: reply.code }),
    ...(reply.errorType && { type: reply.errorType }),
  };
  return {
    status: reply.http,
    headers: {},
    body: reply.body ?? { error: { ...error, message: reply.message ?? base.message, param: null } },
  };
}

async function answer({ reply, body, res, run }) {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...reply.headers });
  const responseId = id('resp');
  let sequence = 0;
  const emit = (type, data) => sendEvent(res, type, { type, sequence_number: sequence++, ...data });
  const fail = (failure) =>
    emit('response.failed', {
      response: { id: responseId, object: 'response', status: 'failed', error: failure, output: [] },
    });
  const output = [];

  await emit('response.created', {
    response: { id: responseId, object: 'response', status: 'in_progress', model: body.model, output: [] },
  });
  if (reply.error)
    return fail(streamFailures[reply.error] ?? { code: reply.error, message: reply.message ?? reply.error });

  for (const step of reply.steps ?? []) {
    if (await run(step)) continue;
    const index = output.length;
    if (step.text !== undefined) {
      const item = {
        type: 'message',
        id: id('msg'),
        role: 'assistant',
        status: 'in_progress',
        content: [],
        ...(step.phase && { phase: step.phase }),
      };
      await emit('response.output_item.added', { output_index: index, item });
      let whole = '';
      for (const delta of pieces(step.text)) {
        if (typeof delta === 'object') {
          await run(delta); // a list of pieces may hold `wait` and `hold` steps
          continue;
        }
        if (step.everyMs) await sleep(step.everyMs);
        whole += delta;
        await emit('response.output_text.delta', {
          item_id: item.id,
          output_index: index,
          content_index: 0,
          delta,
        });
      }
      const done = {
        ...item,
        status: 'completed',
        content: [{ type: 'output_text', text: whole, annotations: [] }],
      };
      await emit('response.output_item.done', { output_index: index, item: done });
      output.push(done);
    } else if (step.think !== undefined) {
      const item = { type: 'reasoning', id: id('rs'), summary: [] };
      await emit('response.output_item.added', { output_index: index, item });
      await emit('response.reasoning_summary_part.added', {
        item_id: item.id,
        output_index: index,
        summary_index: 0,
        part: { type: 'summary_text', text: '' },
      });
      let whole = '';
      for (const delta of pieces(step.think)) {
        whole += delta;
        await emit('response.reasoning_summary_text.delta', {
          item_id: item.id,
          output_index: index,
          summary_index: 0,
          delta,
        });
      }
      const done = {
        ...item,
        summary: [{ type: 'summary_text', text: whole }],
        encrypted_content: 'ZmFrZQ==',
      };
      await emit('response.output_item.done', { output_index: index, item: done });
      output.push(done);
    } else if (step.tool !== undefined) {
      const item = {
        type: 'function_call',
        id: id('fc'),
        call_id: step.id ?? id('call'),
        name: step.tool,
        ...(step.namespace && { namespace: step.namespace }),
        arguments: typeof step.input === 'string' ? step.input : JSON.stringify(step.input ?? {}),
        status: 'completed',
      };
      await emit('response.output_item.added', {
        output_index: index,
        item: { ...item, arguments: '', status: 'in_progress' },
      });
      await emit('response.function_call_arguments.delta', {
        item_id: item.id,
        output_index: index,
        delta: item.arguments,
      });
      await emit('response.output_item.done', { output_index: index, item });
      output.push(item);
    } else if (step.customTool !== undefined) {
      const item = {
        type: 'custom_tool_call',
        id: id('ctc'),
        call_id: step.id ?? id('call'),
        name: step.customTool,
        input: step.input,
        status: 'completed',
      };
      await emit('response.output_item.added', {
        output_index: index,
        item: { ...item, input: '', status: 'in_progress' },
      });
      for (const delta of pieces(item.input)) {
        await emit('response.custom_tool_call_input.delta', {
          item_id: item.id,
          call_id: item.call_id,
          output_index: index,
          delta,
        });
      }
      await emit('response.output_item.done', { output_index: index, item });
      output.push(item);
    } else if (step.raw !== undefined) {
      await emit(step.raw.type, step.raw);
    } else if (step.streamError !== undefined) {
      return fail(step.streamError);
    } else {
      throw new Error(`unknown step ${JSON.stringify(step)}`);
    }
  }

  const { input = 100, cached = 0, output: outputTokens = 20, reasoning = 0 } = reply.usage ?? {};
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + outputTokens,
  };
  if (reply.incomplete) {
    await emit('response.incomplete', {
      response: {
        id: responseId,
        status: 'incomplete',
        incomplete_details: { reason: reply.incomplete },
        output,
        usage,
      },
    });
    return;
  }
  if (reply.noCompletion) return; // the stream ends without `response.completed`
  await emit('response.completed', {
    response: {
      id: responseId,
      object: 'response',
      status: 'completed',
      model: body.model,
      output,
      usage,
      ...(reply.endTurn !== undefined && { end_turn: reply.endTurn }),
    },
  });
}

const wire = {
  name: 'fake-openai',
  isModelCall: (method, path) => method === 'POST' && /\/responses$/.test(path),
  describe,
  httpError,
  answer,
  // A front end may ask for a session title on the side (the Codex ACP agent does).
  isBackground: (about) =>
    about.tools.length === 0 && /^Your task is to generate a very short title/.test(about.lastUser),
  backgroundReply: { name: 'background', steps: [{ text: 'A title' }] },
  side: (method, path) =>
    method === 'GET' && /\/models$/.test(path)
      ? { status: 200, body: { object: 'list', data: [], models: [] } }
      : undefined,
};

/** Starts the server; resolves to { url, port, requests, calls, release, reached, setScenario, close }. */
export const startFakeOpenAI = (options) => startFakeModel(wire, options);

await runAsProgram(import.meta.url, startFakeOpenAI);
