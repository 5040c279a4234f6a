import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** An agent of the Agent Client Protocol that takes a prompt, never answers it, and does not hear a cancel. */
export async function deafAgent(folder: string): Promise<Readonly<Record<string, unknown>>> {
  const script = join(folder, 'deaf-agent.mjs');
  await writeFile(
    script,
    `import { createInterface } from 'node:readline';
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
    setInterval(() => undefined, 1e6);
    const answers = {
      initialize: { protocolVersion: 1, agentCapabilities: {}, authMethods: [] },
      'session/new': { sessionId: 'one' },
    };
    createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      const result = answers[method];
      if (result) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
    });`,
  );
  return { kind: 'deaf', adapter: 'acp', command: process.execPath, args: [script] };
}
