#!/usr/bin/env node
// A fake agent that speaks the Agent Client Protocol (ACP, version 1) on stdin and
// stdout, for tests of an ACP Harness adapter that need no real agent and no model.
//
//   FAKE_ACP_SCENARIO='[{"steps":[{"text":"hello"}]}]' node fake-acp-agent.mjs
//   node fake-acp-agent.mjs --scenario turns.json
//
// A scenario is a list of replies; every session/prompt takes the next one.
//
//   { "steps": [ { "think": "…" }, { "text": "…" },
//                { "tool": "call_1", "title": "Edit a file", "kind": "edit", "input": {…},
//                  "permission": true, "output": "…", "fails": false },
//                { "ask": "Which color?", "schema": { "type": "object", "properties": {…} } },
//                { "usage": { "used": 10, "size": 1000 } }, { "plan": ["first", "second"] },
//                { "update": { "sessionUpdate": "…" } },
//                { "wait": 200 }, { "waitForFile": "go.flag" }, { "stall": true },
//                { "crash": 1 }, { "notJson": "a stray line" } ],
//     "stop": "end_turn" | "max_tokens" | "refusal",
//     "error": { "code": -32603, "message": "…" },
//     "ignoreCancel": true }
//
// The options of a whole scenario: { "replies": […], "capabilities": {…},
// "authMethods": […], "authRequired": true, "sessions": ["id that can be resumed"] }

import fs from 'node:fs';
import readline from 'node:readline';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadScenario, pieces } from './fake-model.mjs';

const at = process.argv.indexOf('--scenario');
const scenario = loadScenario(at < 0 ? process.env.FAKE_ACP_SCENARIO : process.argv[at + 1]);
const replies = [...scenario.replies];
const sessions = new Map((scenario.sessions ?? []).map((id) => [id, {}])); // id → { cancel }
const waiting = new Map(); // our request id → its resolve
let nextId = 0;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (sessionId, value) => send({ method: 'session/update', params: { sessionId, update: value } });

/** Asks the client and waits for its answer ({ error } when it refused). */
function ask(method, params) {
  const id = nextId++;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

class Failure extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const session = (id) => {
  if (!sessions.has(id)) throw new Failure(-32002, `no session ${id}`);
  return sessions.get(id);
};

const open = () => {
  if (scenario.authRequired) throw new Failure(-32000, 'Authentication required');
};

const handlers = {
  initialize: () => ({
    protocolVersion: 1,
    agentInfo: { name: 'fake-acp-agent', title: 'Fake agent', version: '1.0.0' },
    agentCapabilities: scenario.capabilities ?? {
      loadSession: true,
      promptCapabilities: { image: true },
      mcpCapabilities: { http: true },
      sessionCapabilities: { resume: {}, close: {} },
    },
    authMethods: scenario.authMethods ?? [],
  }),
  authenticate: () => {
    scenario.authRequired = false;
    return {};
  },
  'session/new': () => {
    open();
    const sessionId = randomUUID();
    sessions.set(sessionId, {});
    return { sessionId };
  },
  'session/load': ({ sessionId }) => (open(), session(sessionId), {}),
  'session/resume': ({ sessionId }) => (open(), session(sessionId), {}),
  'session/close': ({ sessionId }) => (session(sessionId).cancel?.(), sessions.delete(sessionId), {}),
  'session/prompt': ({ sessionId }) => prompt(sessionId),
};

async function prompt(sessionId) {
  const state = session(sessionId);
  const reply = replies.shift() ?? { steps: [{ text: 'The scenario has no reply left.' }] };
  let cancelled = false;
  const stopped = new Promise((resolve) => {
    state.cancel = () => {
      if (reply.ignoreCancel) return;
      cancelled = true;
      resolve('cancelled');
    };
  });
  for (const step of reply.steps ?? []) {
    if (cancelled) break;
    await Promise.race([run(sessionId, step), stopped]);
  }
  state.cancel = undefined;
  if (reply.error) throw new Failure(reply.error.code, reply.error.message);
  return { stopReason: cancelled ? 'cancelled' : (reply.stop ?? 'end_turn') };
}

async function run(sessionId, step) {
  if (step.text !== undefined || step.think !== undefined) {
    const kind = step.think === undefined ? 'agent_message_chunk' : 'agent_thought_chunk';
    const messageId = step.messageId ?? randomUUID();
    for (const text of pieces(step.text ?? step.think)) {
      if (step.everyMs) await sleep(step.everyMs);
      update(sessionId, { sessionUpdate: kind, messageId, content: { type: 'text', text } });
    }
  } else if (step.tool !== undefined) {
    const call = {
      toolCallId: step.tool,
      title: step.title ?? step.tool,
      kind: step.kind ?? 'other',
      rawInput: step.input ?? {},
    };
    update(sessionId, { sessionUpdate: 'tool_call', status: 'pending', ...call });
    let allowed = true;
    if (step.permission) {
      const { result } = await ask('session/request_permission', {
        sessionId,
        toolCall: call,
        options: [
          { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
          { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
          { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
        ],
      });
      allowed = result?.outcome.outcome === 'selected' && result.outcome.optionId !== 'reject';
    }
    const status = allowed && !step.fails ? 'completed' : 'failed';
    const text = allowed ? (step.output ?? '') : 'refused';
    update(sessionId, {
      sessionUpdate: 'tool_call_update',
      toolCallId: step.tool,
      status,
      rawOutput: { text },
      content: [{ type: 'content', content: { type: 'text', text } }],
    });
  } else if (step.ask !== undefined) {
    const { result } = await ask('elicitation/create', {
      sessionId,
      mode: 'form',
      message: step.ask,
      requestedSchema: step.schema,
    });
    const text =
      result?.action === 'accept' ? JSON.stringify(result.content) : (result?.action ?? 'no answer');
    update(sessionId, {
      sessionUpdate: 'agent_message_chunk',
      messageId: randomUUID(),
      content: { type: 'text', text },
    });
  } else if (step.usage) {
    update(sessionId, { sessionUpdate: 'usage_update', ...step.usage });
  } else if (step.plan) {
    update(sessionId, {
      sessionUpdate: 'plan',
      entries: step.plan.map((content) => ({ content, priority: 'medium', status: 'pending' })),
    });
  } else if (step.update) {
    update(sessionId, step.update);
  } else if (step.wait !== undefined) {
    await sleep(step.wait);
  } else if (step.waitForFile) {
    while (!fs.existsSync(step.waitForFile)) await sleep(20);
  } else if (step.stall) {
    await new Promise(() => {});
  } else if (step.crash !== undefined) {
    process.exit(step.crash);
  } else if (step.notJson !== undefined) {
    process.stdout.write(`${step.notJson}\n`);
  }
}

readline
  .createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined) {
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    } else if (message.method === 'session/cancel') {
      sessions.get(message.params.sessionId)?.cancel?.();
    } else if (message.id !== undefined) {
      try {
        const handler = handlers[message.method];
        if (!handler) throw new Failure(-32601, `no method ${message.method}`);
        send({ id: message.id, result: await handler(message.params ?? {}) });
      } catch (error) {
        send({ id: message.id, error: { code: error.code ?? -32603, message: error.message } });
      }
    }
  })
  .on('close', () => process.exit(0));
