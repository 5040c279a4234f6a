#!/usr/bin/env node
// A fake MCP server over streamable HTTP on 127.0.0.1, for tests of Harnesses.
//
//   const mcp = await startFakeMcp({ token: 'secret', tools: { echo: { … } } })
//   mcp.url    the endpoint to configure
//   mcp.calls  every JSON-RPC message that came, in order
//
// `token`       answers 401 to every request without this bearer
// `fail`        HTTP status to answer to every request (a broken server)
// `initDelayMs` waits before `initialize` is answered (a slow server)
// A tool is { description, inputSchema, annotations, run(args, ctx) }; `run` returns
// text or a whole MCP result, and may call `await ctx.elicit({ message, requestedSchema })`.

import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';

const defaultTools = {
  echo: {
    description: 'Returns its text.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    run: (args) => `echo: ${args.text}`,
  },
};

export async function startFakeMcp(options = {}) {
  const tools = options.tools ?? defaultTools;
  const calls = [];
  const waiting = new Map(); // our request id → resolve, for elicitation answers

  const server = http.createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const authorised = !options.token || req.headers.authorization === `Bearer ${options.token}`;
    if (req.method !== 'POST') {
      // No server-initiated stream and nothing to delete.
      res.writeHead(authorised ? 405 : 401).end();
      return;
    }
    const message = JSON.parse(Buffer.concat(chunks).toString('utf8') || 'null');
    calls.push({
      method: message?.method,
      params: message?.params,
      bearer: Boolean(req.headers.authorization),
      authorised,
    });
    if (options.fail) return void res.writeHead(options.fail).end();
    if (!authorised) return void res.writeHead(401, { 'www-authenticate': 'Bearer' }).end();

    if (message.method === undefined && waiting.has(message.id)) {
      waiting.get(message.id)(message.result ?? { action: 'cancel', error: message.error });
      waiting.delete(message.id);
      return void res.writeHead(202).end();
    }
    if (message.id === undefined) return void res.writeHead(202).end(); // a notification

    const json = (result) => {
      res.writeHead(200, {
        'content-type': 'application/json',
        ...(message.method === 'initialize' && { 'mcp-session-id': randomUUID() }),
      });
      res.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...result }));
    };
    switch (message.method) {
      case 'initialize':
        if (options.initDelayMs) await sleep(options.initDelayMs);
        return json({
          result: {
            protocolVersion: message.params.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: 'fake-mcp', version: '1.0.0' },
          },
        });
      case 'ping':
        return json({ result: {} });
      case 'tools/list':
        return json({
          result: {
            tools: Object.entries(tools).map(([name, tool]) => ({
              name,
              description: tool.description ?? name,
              inputSchema: tool.inputSchema ?? { type: 'object' },
              ...(tool.annotations && { annotations: tool.annotations }),
            })),
          },
        });
      case 'tools/call': {
        const tool = tools[message.params.name];
        if (!tool) return json({ error: { code: -32602, message: `no tool ${message.params.name}` } });
        // The answer is a stream, so that a tool can ask the user in between.
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        const send = (data) =>
          res.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...data })}\n\n`);
        const elicit = (params) =>
          new Promise((resolve) => {
            const id = randomUUID();
            waiting.set(id, resolve);
            send({ id, method: 'elicitation/create', params });
          });
        let result;
        try {
          const value = await tool.run(message.params.arguments ?? {}, { elicit, req });
          result = typeof value === 'string' ? { content: [{ type: 'text', text: value }] } : value;
        } catch (error) {
          result = { content: [{ type: 'text', text: String(error.message) }], isError: true };
        }
        send({ id: message.id, result });
        return res.end();
      }
      default:
        return json({ error: { code: -32601, message: `unknown method ${message.method}` } });
    }
  });

  await new Promise((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    calls,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const mcp = await startFakeMcp({ port: Number(process.env.PORT ?? 0), token: process.env.FAKE_MCP_TOKEN });
  process.stdout.write(`${JSON.stringify({ url: mcp.url })}\n`);
}
