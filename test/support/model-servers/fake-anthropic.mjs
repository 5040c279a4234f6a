#!/usr/bin/env node
// A fake model server that speaks the Anthropic Messages API with SSE streaming,
// enough for a real Claude Code (through the Agent SDK or the CLI) to run whole
// turns against it.
//
//   node fake-anthropic.mjs --scenario turn.json --port 0
//   FAKE_SCENARIO='[{"steps":[{"text":"hello"}]}]' node fake-anthropic.mjs
//
// or in a test:  const fake = await startFakeAnthropic({ scenario })
//
// A scenario is a list of replies; every POST /v1/messages takes the first unused
// one that fits. README.md beside this file has the whole format.
//
//   { "steps": [ { "think": "…" },
//                { "text": "…" },
//                { "tool": "Bash", "input": { "command": "ls" }, "id": "toolu_1" },
//                { "wait": 200 }, { "hold": "gate" }, { "stall": true }, { "drop": true },
//                { "streamError": { "type": "overloaded_error", "message": "…" } } ],
//     "usage": { "input": 10, "cacheRead": 2, "cacheWrite": 0, "output": 5 },
//     "stop": "end_turn" | "tool_use" | "max_tokens" | "refusal",
//     "http": 529, "message": "…", "errorType": "…", "headers": { "retry-after": "1" },
//     "error": "context_length" | "overloaded" | "rate_limit" | "auth" | "billing" }

import { pieces, runAsProgram, sendEvent, startFakeModel } from './fake-model.mjs';
import { setTimeout as sleep } from 'node:timers/promises';

let counter = 0;
const id = (prefix) => `${prefix}_${Date.now().toString(36)}${(counter += 1).toString(36).padStart(4, '0')}`;

const textOf = (content) => {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n');
};

/** What the request is about: the last user text (reminders left out), the last tool result, the tools. */
function describe(body) {
  const messages = body.messages ?? [];
  const users = messages.filter((message) => message.role === 'user');
  const parts = (content) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const userTexts = users.flatMap((message) =>
    parts(message.content)
      .filter((part) => part.type === 'text' && !part.text.startsWith('<system-reminder>'))
      .map((part) => part.text),
  );
  const results = users.flatMap((message) =>
    parts(message.content).filter((part) => part.type === 'tool_result'),
  );
  const last = results.at(-1);
  return {
    model: body.model,
    system: textOf(body.system),
    lastUser: userTexts.at(-1) ?? '',
    lastTool:
      last === undefined
        ? ''
        : typeof last.content === 'string'
          ? last.content
          : JSON.stringify(last.content),
    tools: (body.tools ?? []).map((tool) => tool.name),
    maxTokens: body.max_tokens,
  };
}

const named = {
  context_length: {
    http: 400,
    errorType: 'invalid_request_error',
    message: 'prompt is too long: 250000 tokens > 200000 maximum',
  },
  overloaded: { http: 529, errorType: 'overloaded_error', message: 'Overloaded' },
  rate_limit: {
    http: 429,
    errorType: 'rate_limit_error',
    message: 'This request would exceed your rate limit.',
  },
  auth: { http: 401, errorType: 'authentication_error', message: 'invalid x-api-key' },
  billing: {
    http: 400,
    errorType: 'invalid_request_error',
    message: 'Your credit balance is too low to access the Anthropic API.',
  },
};

const httpTypes = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
};

function httpError(reply) {
  const { http, errorType, message } = {
    ...named[reply.error],
    ...(reply.http && { http: reply.http }),
    ...(reply.errorType && { errorType: reply.errorType }),
    ...(reply.message && { message: reply.message }),
  };
  if (!http) return undefined;
  const type = errorType ?? httpTypes[http] ?? 'api_error';
  return {
    status: http,
    headers: {},
    body: reply.body ?? {
      type: 'error',
      error: { type, message: message ?? `fake ${type}` },
      request_id: id('req'),
    },
  };
}

async function answer({ reply, body, res, run }) {
  const { input = 100, cacheRead = 0, cacheWrite = 0, output: outputTokens = 20 } = reply.usage ?? {};
  const usageStart = {
    input_tokens: input,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
    output_tokens: 1,
  };
  const message = {
    id: id('msg'),
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usageStart,
  };
  const steps = reply.steps ?? [];
  const stop = reply.stop ?? (steps.some((step) => step.tool !== undefined) ? 'tool_use' : 'end_turn');

  if (!body.stream) {
    const content = [];
    for (const step of steps) {
      if (await run(step)) continue;
      if (step.text !== undefined)
        content.push({
          type: 'text',
          text: pieces(step.text)
            .filter((piece) => typeof piece === 'string')
            .join(''),
        });
      if (step.tool !== undefined)
        content.push({
          type: 'tool_use',
          id: step.id ?? id('toolu'),
          name: step.tool,
          input: step.input ?? {},
        });
    }
    res.writeHead(200, { 'content-type': 'application/json', 'request-id': id('req') });
    res.write(
      JSON.stringify({
        ...message,
        content,
        stop_reason: stop,
        usage: { ...usageStart, output_tokens: outputTokens },
      }),
    );
    return;
  }

  res.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'request-id': id('req'),
    ...reply.headers,
  });
  const emit = (type, data) => sendEvent(res, type, { type, ...data });
  await emit('message_start', { message });
  await emit('ping', {});

  let index = 0;
  for (const step of steps) {
    if (await run(step)) continue;
    if (step.text !== undefined || step.think !== undefined) {
      const thinking = step.think !== undefined;
      await emit('content_block_start', {
        index,
        content_block: thinking
          ? { type: 'thinking', thinking: '', signature: '' }
          : { type: 'text', text: '' },
      });
      for (const piece of pieces(thinking ? step.think : step.text)) {
        if (typeof piece === 'object') {
          await run(piece); // a list of pieces may hold `wait` and `hold` steps
          continue;
        }
        if (step.everyMs) await sleep(step.everyMs);
        await emit('content_block_delta', {
          index,
          delta: thinking ? { type: 'thinking_delta', thinking: piece } : { type: 'text_delta', text: piece },
        });
      }
      if (thinking)
        await emit('content_block_delta', {
          index,
          delta: { type: 'signature_delta', signature: 'ZmFrZQ==' },
        });
    } else if (step.tool !== undefined) {
      await emit('content_block_start', {
        index,
        content_block: { type: 'tool_use', id: step.id ?? id('toolu'), name: step.tool, input: {} },
      });
      const json = typeof step.input === 'string' ? step.input : JSON.stringify(step.input ?? {});
      const half = Math.ceil(json.length / 2);
      for (const piece of [json.slice(0, half), json.slice(half)]) {
        await emit('content_block_delta', {
          index,
          delta: { type: 'input_json_delta', partial_json: piece },
        });
      }
    } else if (step.raw !== undefined) {
      await emit(step.raw.type, step.raw);
      continue;
    } else if (step.streamError !== undefined) {
      await emit('error', {
        error: { type: 'api_error', message: 'fake stream error', ...step.streamError },
      });
      return;
    } else {
      throw new Error(`unknown step ${JSON.stringify(step)}`);
    }
    await emit('content_block_stop', { index });
    index += 1;
  }
  if (reply.noCompletion) return; // the stream ends without `message_stop`
  await emit('message_delta', {
    delta: { stop_reason: stop, stop_sequence: null },
    usage: { output_tokens: outputTokens },
  });
  await emit('message_stop', {});
}

const wire = {
  name: 'fake-anthropic',
  isModelCall: (method, path) => method === 'POST' && /\/v1\/messages$/.test(path),
  describe,
  httpError,
  answer,
  // Claude Code also asks for small things on the side, such as a session title, a
  // suggestion for the next input or a quota probe. They must not eat the replies that a test wrote for the turn.
  // (A turn of a session without tools carries no tools either, hence the second half.)
  isBackground: (about) =>
    about.lastUser.startsWith('[SUGGESTION MODE') ||
    (about.tools.length === 0 &&
      (about.lastUser.startsWith('<session>') || about.maxTokens <= 16 || /haiku/.test(about.model ?? ''))),
  backgroundReply: { name: 'background', steps: [{ text: '{"title": "A title"}' }] },
  side: (method, path) => {
    if (path.endsWith('/count_tokens')) return { status: 200, body: { input_tokens: 100 } };
    if (method === 'GET' && path.endsWith('/v1/models'))
      return { status: 200, body: { data: [], has_more: false } };
    return undefined;
  },
};

/** Starts the server; resolves to { url, port, requests, calls, release, reached, setScenario, close }. */
export const startFakeAnthropic = (options) => startFakeModel(wire, options);

await runAsProgram(import.meta.url, startFakeAnthropic);
