import fs from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { silentLogger } from '../../src/observe/logger.ts';
import type { ShutdownResult } from '../../src/runtime/router.ts';
import { LocalWorkspace } from '../../src/workspace/local-workspace.ts';
import { FaultInjector, processesWith, type Fault } from './fault-injector.ts';
import type { LifeReport } from './fault-life.ts';
import { settle } from './fake-clock.ts';
import { environmentId, FolderBed, sessionId, sha256 } from './folder-bed.ts';
import { realWorkspace } from './real-workspace.ts';

/**
 * Lives of a bound folder, one after the other in this process: what Core may ask of it (a setup command, an initial
 * file, a write, reads, an export, a Turn that is read through), with faults of the system. `Fault[]` a line in, a
 * `LifeReport` a line out.
 */
const { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } = fs;
const injector = new FaultInjector();
const loose: string[] = [];
const told = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
process.on('unhandledRejection', (reason) => loose.push(`unhandled rejection: ${told(reason)}`));
process.on('uncaughtException', (error) => loose.push(`uncaught exception: ${told(error)}`));

interface Answer {
  readonly outcome?: string;
  readonly state?: string;
  readonly [member: string]: unknown;
}

class FolderLife {
  readonly problems: string[] = [];
  readonly bed: FolderBed;
  readonly #patience: number;
  #transfers = 0;

  constructor(bed: FolderBed, lasts: boolean) {
    this.bed = bed;
    // What lasts is reported at once; only a single fault may need another look of the kernel.
    this.#patience = lasts ? 3_000 : 5_000;
  }

  async play(): Promise<void> {
    injector.phase = 'prepare';
    const setup = { action: 'initialize', initialization: { action: 'setup', command: 'echo made > made' } };
    this.#judgeFile('made', 'made\n', await this.#transfer('runtime_prepare', setup, null), true);
    const file = { action: 'file', file: { path: '/workspace/initial' } };
    this.#judgeFile('initial', 'at first', await this.#transfer('runtime_prepare', file, 'at first'));
    injector.phase = 'write';
    const text = 'written in two parts';
    this.#judgeFile('deep/new', text, await this.#transfer('workspace_write', { path: 'deep/new' }, text));
    injector.phase = 'read';
    const handle = await this.#readOnly();
    if (handle !== null) {
      await this.#read('bytes', { handle, path: 'there' });
      await this.#read('names', { handle, path: '', operation: 'directory', max_entries: 10 });
      await this.#export(handle);
      await this.bed.core('execution_release', 'ro', { handle });
      await this.#answer('ro', 'a release');
    }
    injector.phase = 'turn';
    await this.#turn();
    injector.phase = 'stop';
  }

  /** A later look without faults: nothing half-made, nothing that still runs, and what was unknown can be settled. */
  async look(): Promise<void> {
    for (const fact of this.bed.facts.filter(({ type }) => type === 'cleanup'))
      if (fact.type === 'cleanup') await this.bed.router.retryCleanup(fact.id);
    const ended = await this.#shutdown();
    if (ended === null) this.problems.push('the router does not shut down');
    else if (ended.kind === 'unsettled') {
      const again = await this.#shutdown();
      if (again?.kind !== 'settled' && !this.#uncertain())
        this.problems.push(`still owned: ${again?.blockers.join(' ') ?? 'everything'}`);
    }
    const later = new LocalWorkspace({
      ...{ root: this.bed.root, stateDir: this.bed.state, logger: silentLogger, createSteps: null },
    });
    await (await later.open()).close();
    const known = new Set(['made', 'initial', 'deep', 'deep/new', 'there', 'outputs', 'outputs/result']);
    const found = readdirSync(this.bed.root, { recursive: true }).map(String);
    for (const name of found) if (!known.has(name)) this.problems.push(`left in the folder: ${name}`);
    const bodies = join(this.bed.state, 'transfers');
    for (const name of existsSync(bodies) ? readdirSync(bodies) : [])
      this.problems.push(`left in the state: ${name}`);
    const running = processesWith(this.bed.state);
    if (running.length > 0) this.problems.push(`still running: ${running.join(' ')}`);
  }

  /** Time passes until it is over; null when it never is. */
  async #shutdown(): Promise<ShutdownResult | null> {
    let ended: ShutdownResult | null = null;
    void this.bed.router.shutdown().then((result) => (ended = result));
    for (let n = 0; n < 400 && ended === null; n++) {
      await new Promise((resolve) => setTimeout(resolve, n < 20 ? 0 : 10));
      await this.bed.clock.advance(500);
    }
    return ended;
  }

  /** Something was told to be unknown: then it may keep its place. */
  #uncertain(): boolean {
    return this.bed.facts.some((fact) => fact.type === 'cleanup');
  }

  /** The next frame with this id; null and a problem when none comes. */
  async #answer(id: string, what: string): Promise<Answer | null> {
    const end = performance.now() + this.#patience;
    for (;;) {
      const at = this.bed.sent.findIndex((frame) => frame.id === id);
      const [frame] = at < 0 ? [] : this.bed.sent.splice(at, 1);
      if (frame) return frame.payload as Answer;
      if (performance.now() > end) {
        this.problems.push(`no answer to ${what}`);
        return null;
      }
      await settle();
    }
  }

  async #transfer(
    type: 'runtime_prepare' | 'workspace_write',
    body: Record<string, unknown>,
    data: string | null,
  ): Promise<Answer | null> {
    const id = `00000000-0000-4000-8000-${String(++this.#transfers).padStart(12, '0')}`;
    const send = (payload: Record<string, unknown>): Promise<void> =>
      this.bed.raw(JSON.stringify({ type, id, payload }));
    await send({
      ...{ step: 'begin', environment_id: environmentId, session_id: sessionId, ...body },
      ...(data === null ? {} : { size_bytes: data.length, sha256: sha256(data) }),
    });
    let answer = await this.#answer(id, `the begin of ${type}`);
    if (answer?.outcome !== 'ready') return answer;
    const middle = 8;
    for (const [offset, part] of data === null
      ? []
      : [[0, data.slice(0, middle)] as const, [middle, data.slice(middle)] as const]) {
      if (part === '') continue;
      await send({
        step: 'chunk',
        ...(offset > 0 ? { offset } : {}),
        data: Buffer.from(part).toString('base64'),
      });
      answer = await this.#answer(id, `a chunk of ${type}`);
      if (answer?.outcome !== 'received') return answer;
    }
    await send({ step: 'commit' });
    return this.#answer(id, `the commit of ${type}`);
  }

  /** Told completed it is there, whole; told rejected it is not; it is never there in part. */
  #judgeFile(name: string, text: string, answer: Answer | null, partly = false): void {
    if (answer === null) return;
    const path = join(this.bed.root, name);
    const found = existsSync(path) ? readFileSync(path, 'utf8') : null;
    if (answer.outcome === 'completed' && found !== text)
      this.problems.push(`${name} is told completed and reads ${String(found)}`);
    if (answer.outcome === 'rejected' && found !== null)
      this.problems.push(`${name} is told rejected and is there`);
    if (found !== null && found !== text && !partly) this.problems.push(`${name} is there in part`);
  }

  async #readOnly(): Promise<string | null> {
    await this.bed.raw(
      JSON.stringify({
        ...{ type: 'execution_prepare', id: 'ro' },
        payload: {
          session_id: sessionId,
          configuration: {
            ...{ agent_kind: 'contract', conversation_id: '', run_id: '' },
            local_environment: {
              id: environmentId,
              workspace_directory: '/workspace',
              capability_sources: null,
            },
            ...{ workspace_read_only: true, agent_state_key: `agents-api-${sessionId}` },
            ...{ release_on_completion: true, strict_resume: true },
          },
        },
      }),
    );
    let answer = await this.#answer('ro', 'a read-only preparation');
    if (answer?.state === 'preparing') answer = await this.#answer('ro', 'a read-only preparation');
    return answer?.state === 'ready' ? String(answer['handle']) : null;
  }

  async #read(id: string, read: Record<string, unknown>): Promise<void> {
    await this.bed.read(id, read);
    const answer = await this.#answer(id, 'a read');
    if (id !== 'bytes' || answer?.outcome !== 'completed') return;
    const data = Buffer.from(String(answer['data']), 'base64').toString();
    if (data !== 'it was here') this.problems.push(`a read is told completed with ${data}`);
  }

  async #export(handle: string): Promise<void> {
    await this.bed.core('workspace_export', 'ex', { step: 'begin', handle, environment_id: environmentId });
    for (let offset = 0; ;) {
      const answer = await this.#answer('ex', 'an export');
      if (answer?.outcome !== 'chunk') return;
      offset += Buffer.from(String(answer['data']), 'base64').length;
      await this.bed.core('workspace_export', 'ex', { step: 'next', offset });
    }
  }

  /** A Turn in the folder, which is read through while it runs. */
  async #turn(): Promise<void> {
    await this.bed.prepare('turn', sessionId, {
      disable_execution_environment: false,
      local_environment: { id: environmentId, workspace_directory: '/workspace', capability_sources: null },
    });
    let answer = await this.#answer('turn', 'a preparation');
    if (answer?.state === 'preparing') answer = await this.#answer('turn', 'a preparation');
    if (answer?.state !== 'ready') return;
    await this.bed.raw(
      JSON.stringify({
        ...{ type: 'execution_start', id: 'turn' },
        payload: {
          ...{ executor_id: answer['executor_id'], handle: answer['handle'], run_id: 'run' },
          input: [{ content: [{ type: 'input_text', text: 'hello' }] }],
        },
      }),
    );
    for (let state: string | undefined = ''; state !== 'started';) {
      state = (await this.#answer('turn', 'a start'))?.state;
      if (state === undefined || state === 'rejected') return;
    }
    await this.#read('during', { run_id: 'run', path: 'there' });
    await this.bed.harness.last.finish('done');
    const done = await this.#answer('run', 'the Turn');
    if (done?.['content'] !== 'done') this.problems.push('the Turn has another end');
  }
}

async function live(faults: readonly Fault[]): Promise<LifeReport> {
  const began = performance.now();
  const bed = await FolderBed.create({
    make: (root, stateDir) => realWorkspace({ root, stateDir, environmentId, sessionId }),
  });
  mkdirSync(join(bed.root, 'outputs'));
  writeFileSync(join(bed.root, 'outputs', 'result'), 'a result');
  writeFileSync(join(bed.root, 'there'), 'it was here');
  const life = new FolderLife(
    bed,
    faults.some(({ site }) => site === 'lasting'),
  );
  injector.begin(join(bed.root, '..'), faults);
  try {
    await life.play();
  } catch (error) {
    life.problems.push(`the bed broke: ${told(error)}`);
  }
  injector.active = false;
  await life.look();
  life.problems.push(...loose.splice(0));
  const report = {
    injected: [...injector.injected],
    calls: faults.length === 0 ? [...injector.calls] : [],
    problems: life.problems,
  };
  await bed.remove();
  return { ...report, refused: null, ms: Math.round(performance.now() - began) };
}

await injector.install();
process.stdout.write(`${JSON.stringify({ ...(await live([])), calls: [] })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const report = await live(JSON.parse(line) as Fault[]).catch((error: unknown) => {
    process.stderr.write(`${told(error)}\n`);
    process.exit(1);
  });
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
process.exit(0);
