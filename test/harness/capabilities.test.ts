import { format } from 'prettier';
import { describe, expect, test } from 'vitest';

import {
  capabilityNames,
  type CapabilityDeclaration,
  type CapabilityName,
} from '../../src/protocol/capabilities.ts';
import { openCode, openCodeBed, plain } from './acp/acp-bed.ts';
import { claude, claudeBed } from './bed.ts';
import { proofs, type Bench, type Words } from './capability-proofs.ts';
import { codex, codexBed } from './codex/codex-bed.ts';

/** One real program, and how its model is made to do things. */
interface Subject {
  readonly name: string;
  readonly program: string | null;
  open(): Promise<Bench>;
}

const claudeWords: Words = {
  command: (command, id) => ({ tool: 'Bash', id, input: { command } }),
  call: (name, input, id) => ({ tool: `mcp__functions__${name}`, id, input }),
  search: (name, id) => ({ tool: 'ToolSearch', id, input: { query: `select:mcp__functions__${name}` } }),
  found: (name, id) => ({ tool: `mcp__functions__${name}`, id, input: {} }),
  serverTool: (server, tool, id) => ({ tool: `mcp__${server}__${tool}`, id, input: {} }),
  answer: (input, id) => ({ tool: 'StructuredOutput', id, input }),
  webSearch: /\bWebSearch\b/,
  subagents: /"name":"(Agent|Task)"/,
  programmatic: /\b(Workflow|REPL)\b/,
};

const codexWords: Words = {
  command: (cmd, id) => ({ tool: 'exec_command', id, input: { cmd } }),
  call: (tool, input, id) => ({ tool, id, input }),
  search: (name, id) => ({
    raw: {
      type: 'response.output_item.done',
      output_index: 0,
      item: {
        ...{ type: 'tool_search_call', id: `ts_${id}`, call_id: id, execution: 'client' },
        ...{ arguments: { query: name }, status: 'completed' },
      },
    },
  }),
  found: (tool, id) => ({ tool, namespace: 'later', id, input: {} }),
  serverTool: (server, tool, id) => ({ tool, namespace: `mcp__${server}`, id, input: {} }),
  answer: (value) => ({ text: JSON.stringify(value) }),
  webSearch: /\bweb_search\b/,
  subagents: /spawn_agent/,
  spawn: (message, id) => ({
    tool: 'spawn_agent',
    namespace: 'multi_agent_v1',
    id,
    input: { message },
  }),
  programmatic: /\bexec\b/,
  subagentModel: 'gpt-6.2-sol',
};

const openCodeWords: Words = {
  command: (command, id) => ({ tool: 'bash', id, input: { command, description: 'w' } }),
  call: (name, input, id) => ({ tool: name, id, input }),
  serverTool: (server, tool, id) => ({ tool: `${server}_${tool}`, id, input: {} }),
  answer: (value) => ({ text: JSON.stringify(value) }),
  webSearch: /websearch/,
  subagents: /"name":"task"/,
  programmatic: /\bexec\b/,
};

const subjects: readonly Subject[] = [
  {
    name: 'Claude Code',
    program: claude,
    async open() {
      const bed = await claudeBed();
      return { bed, model: bed.model, words: claudeWords, base: {} };
    },
  },
  {
    name: 'Codex',
    program: codex,
    async open() {
      const bed = await codexBed();
      return { bed, model: bed.model, words: codexWords, base: {} };
    },
  },
  {
    name: 'OpenCode (ACP)',
    program: openCode,
    async open() {
      const { bed, model } = await openCodeBed();
      const close = bed.close.bind(bed);
      const closing = async (): Promise<void> => {
        await close();
        await model.close();
      };
      return { bed: Object.assign(bed, { close: closing }), model, words: openCodeWords, base: plain };
    },
  },
];

/** What each look at a program said, and what the proofs showed. */
interface Found {
  readonly version: string | null;
  readonly declared: CapabilityDeclaration;
  readonly proven: Set<CapabilityName>;
}
const found = new Map<string, Found>();

async function look(subject: Subject): Promise<Found> {
  const known = found.get(subject.name);
  if (known) return known;
  const probe = await withBench(subject, ({ bed }) => bed.adapter.probe());
  const facts = { version: probe.version, declared: probe.capabilities, proven: new Set<CapabilityName>() };
  found.set(subject.name, facts);
  return facts;
}

async function withBench<T>(subject: Subject, body: (bench: Bench) => Promise<T>): Promise<T> {
  const bench = await subject.open();
  try {
    return await body(bench);
  } finally {
    await bench.bed.close();
  }
}

for (const subject of subjects) {
  describe.skipIf(subject.program === null)(subject.name, () => {
    test.each(capabilityNames)('%s: declared and proven, or neither', { timeout: 60_000 }, async (name) => {
      const facts = await look(subject);
      const proof = proofs[name];
      if (facts.declared[name]) {
        if (!proof) throw new Error(`${name} is declared and nothing proves it`);
        await withBench(subject, proof.prove);
        facts.proven.add(name);
      } else if (proof?.needs) {
        const { needs } = proof;
        await withBench(subject, async ({ bed, base }) => {
          const outcome = await bed.prepare(
            { ...base, ...needs },
            needs['disable_execution_environment'] ? { workspace: null } : {},
          );
          expect(outcome.kind).toBe('failed');
        });
      }
    });
  });
}

describe.skipIf(subjects.some(({ program }) => program === null))('docs/harness-capabilities.md', () => {
  test('says what the proofs showed', async () => {
    await expect(await table()).toMatchFileSnapshot('../../docs/harness-capabilities.md');
  });
});

/** `npm run test:harness -- capabilities -u` writes it anew. */
async function table(): Promise<string> {
  const all = await Promise.all(subjects.map(look));
  const head = subjects.map(({ name }, index) => `${name} ${all[index]?.version ?? ''}`);
  const rows = capabilityNames.map((name) => {
    if (!proofs[name] && all.every(({ declared }) => !declared[name])) return [name, ...all.map(() => '–')];
    return [name, ...all.map((facts) => cell(facts, name))];
  });
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const text = `# What each agent can do

Written by \`test/harness/capabilities.test.ts\` from what it proved against the real programs on scripted models, and compared with it in every run: a declaration without its proof fails, and so does a table that says something else.

yes: declared, and the real program did it. no: not declared; where an execution can ask for it, it was asked for and refused. –: no agent declares it, or it is the Runtime's own and depends on the bound folder.

${line(['', ...head])}
${line(['---', ...head.map(() => '---')])}
${rows.map(line).join('\n')}

What an ACP agent can do depends on the agent; OpenCode stands for them. The demo agent has no model and only serves the local Core.
`;
  return format(text, { parser: 'markdown', printWidth: 110 });
}

function cell({ declared, proven }: Found, name: CapabilityName): string {
  if (!declared[name]) return 'no';
  return proven.has(name) ? 'yes' : 'declared, not proven';
}
