import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import type { InstalledSkill } from '../../../src/harness/adapter.ts';
import { nativeSessionId } from '../../../src/protocol/run-output.ts';
import { CANARY, codexTest, filesWith, isThere, type CodexBed } from './codex-bed.ts';

const done = { steps: [{ text: 'Done.' }] };
const SECRET = 'canary-variable-of-the-environment';

/** What the environment of a command of the agent is, while the command lines of the machine are looked at. */
async function shellEnvironment(
  bed: CodexBed,
  ...options: Parameters<CodexBed['ready']>
): Promise<{ readonly env: string; readonly commandLines: string }> {
  bed.model.setScenario([
    { steps: [{ tool: 'exec_command', id: 'call_1', input: { cmd: 'env > env.txt; touch up; sleep 0.4' } }] },
    done,
  ]);
  const { output, turn } = await bed.start(await bed.ready(...options), 'Work');
  await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
  while (!(await isThere(join(bed.workspace, 'up')))) await new Promise((resolve) => setTimeout(resolve, 10));
  const commandLines = await allCommandLines();
  await output.end();
  return { env: await readFile(join(bed.workspace, 'env.txt'), 'utf8'), commandLines };
}

async function allCommandLines(): Promise<string> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.join('\n');
}

describe('what a command of the agent sees', () => {
  codexTest('is not the key of the person’s provider, and no command line has it', async (bed) => {
    const { env, commandLines } = await shellEnvironment(bed);
    expect(env).not.toContain(CANARY);
    expect(env).not.toContain('SCRIPTED_KEY');
    expect(env).toContain('PATH=');
    expect(commandLines).not.toContain(CANARY);
    expect(bed.log.join('\n')).toContain('harness.process_started');
    expect(bed.log.join('\n')).not.toContain(CANARY);
    expect(await filesWith(bed.home, CANARY)).toEqual([]);
  });

  codexTest('are the prepared variables, which no command line has', async (bed) => {
    const prepared = { variables: { MY_SETTING: SECRET, ANOTHER: 'plain' } };
    const { env, commandLines } = await shellEnvironment(bed, {}, { prepared });
    expect(env).toContain(`MY_SETTING=${SECRET}`);
    expect(env).toContain('ANOTHER=plain');
    expect(commandLines).not.toContain(SECRET);
    expect(await filesWith(bed.home, SECRET)).toEqual([]);
  });

  codexTest(
    'keeps what the person set for all their commands',
    async (bed) => {
      const { env } = await shellEnvironment(bed, {}, { prepared: { variables: { MY_SETTING: 'x' } } });
      expect(env).toContain('MY_SETTING=x');
      expect(env).toContain('THEIRS=1');
      expect(env).not.toContain('SCRIPTED_KEY');
      expect(env).not.toContain('HIDDEN');
    },
    {
      tables: '[shell_environment_policy]\nexclude = ["HIDDEN"]\nset = { THEIRS = "1" }\n',
      env: { HIDDEN: 'x' },
    },
  );

  codexTest('is not the key of a model provider of the Agent', async (bed) => {
    const { env, commandLines } = await shellEnvironment(bed, {
      agent_options: {
        model: 'gpt-5.5',
        model_provider: { protocol: 'responses', base_url: `${bed.model.url}/v1`, api_key: SECRET },
      },
    });
    expect(env).not.toContain(SECRET);
    expect(commandLines).not.toContain(SECRET);
    expect(bed.model.requests.at(-1)?.auth).toBe('authorization');
  });
});

describe('a model provider of the Agent', () => {
  codexTest(
    'is used instead of the person’s, also where nobody is signed in',
    async (bed) => {
      bed.model.setScenario([done]);
      const executor = await bed.ready({
        agent_options: {
          model: 'gpt-5.5',
          model_provider: { protocol: 'responses', base_url: `${bed.model.url}/v1`, api_key: SECRET },
        },
      });
      expect((await bed.run(executor, 'Hello')).output.text).toBe('Done.');
      expect(bed.model.calls[0]?.body.model).toBe('gpt-5.5');
    },
    { signedOut: true },
  );

  codexTest('of another protocol is refused before a start', async (bed) => {
    for (const protocol of ['anthropic', 'chat_completions']) {
      const model_provider = { protocol, base_url: `${bed.model.url}`, api_key: SECRET };
      const outcome = await bed.prepare({ agent_options: { model_provider } });
      expect(outcome).toEqual({ kind: 'failed', message: expect.stringContaining('Responses') as string });
    }
  });
});

describe('Skills', () => {
  const skill = async (bed: CodexBed, name: string, body: string): Promise<InstalledSkill> => {
    const folder = join(bed.root, 'skills', name);
    await mkdir(folder, { recursive: true });
    const description = `How to ${name} the zebras.`;
    await writeFile(
      join(folder, 'SKILL.md'),
      `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`,
    );
    return { name, description, folder };
  };

  codexTest('of the selection are told to the model with where to read them, and no others', async (bed) => {
    const count = await skill(bed, 'count', 'Begin at one.');
    await skill(bed, 'hide', 'Never.');
    bed.model.setScenario([
      { steps: [{ tool: 'exec_command', id: 'call_1', input: { cmd: `cat ${count.folder}/SKILL.md` } }] },
      done,
    ]);
    const executor = await bed.ready({}, { prepared: { skills: [count] } });
    const { output, turn } = await bed.start(executor, 'Count');
    await turn.submitPermission?.((await output.next('permission')).request.key, { kind: 'allow' });
    await output.end();
    const asked = JSON.stringify(bed.model.calls[0]?.body.input);
    expect(asked).toContain('How to count the zebras.');
    expect(asked).toContain(count.folder);
    expect(asked).not.toContain('How to hide the zebras.');
    expect(bed.model.calls.at(-1)?.about.lastTool).toContain('Begin at one.');
  });

  codexTest('that the program does not take are refused', async (bed) => {
    const count = await skill(bed, 'count', 'Begin at one.');
    await writeFile(join(count.folder, 'SKILL.md'), 'no head at all');
    const outcome = await bed.prepare({}, { prepared: { skills: [count] } });
    expect(outcome).toEqual({ kind: 'failed', message: expect.stringContaining('Skill') as string });
  });
});

describe('no environment', () => {
  const none = { disable_execution_environment: true };
  const command = {
    steps: [{ tool: 'exec_command', id: 'call_1', input: { cmd: 'touch made; pwd' } }],
  };

  codexTest('runs no command, and changes no file', async (bed) => {
    bed.model.setScenario([
      command,
      {
        steps: [
          {
            customTool: 'apply_patch',
            id: 'call_2',
            input: '*** Begin Patch\n*** Add File: made\n+x\n*** End Patch\n',
          },
        ],
      },
      { steps: [{ tool: 'view_image', id: 'call_3', input: { path: '/etc/passwd' } }] },
      done,
    ]);
    const executor = await bed.ready(none, { workspace: null });
    const { output } = await bed.run(executor, 'Work');
    expect(output.all('permission')).toEqual([]);
    expect(await readdir(join(bed.root, 'state'))).toEqual(['codex']);
    for (const call of bed.model.calls.slice(1))
      expect(call.about.lastTool).toMatch(/environment|unavailable/i);
    expect(output.text).toBe('Done.');
  });

  codexTest('stays so when the conversation is continued', async (bed) => {
    bed.model.setScenario([done]);
    const first = await bed.ready(none, { workspace: null });
    const session = nativeSessionId((await bed.run(first, 'Hello')).turn.outcome());
    await first.close();
    bed.model.setScenario([command, command, done]);
    const second = await bed.ready({ ...none, agent_session_id: session }, { workspace: null });
    await bed.run(second, 'Work');
    expect(bed.model.calls.at(-1)?.about.lastTool).toContain('No usable execution environment');
    expect(await readdir(join(bed.root, 'state'))).toEqual(['codex']);
  });

  codexTest(
    'has no MCP server of the person',
    async (bed) => {
      bed.model.setScenario([done]);
      expect((await bed.run(await bed.ready(none, { workspace: null }), 'Hello')).output.text).toBe('Done.');
    },
    { tables: '[mcp_servers.mine]\ncommand = "/nowhere/mine"\nrequired = true\n' },
  );
});
