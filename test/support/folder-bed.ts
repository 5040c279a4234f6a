import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLogger } from '../../src/observe/logger.ts';
import { capabilityNames, declareCapabilities } from '../../src/protocol/capabilities.ts';
import type { FramePayload } from '../../src/protocol/registry.ts';
import { LocalWorkspace, type LocalWorkspaceOptions } from '../../src/workspace/local-workspace.ts';
import type { WorkspaceService } from '../../src/workspace/workspace-service.ts';
import { RouterBed, type SentFrame } from './router-bed.ts';
import { temporaryFolder, until } from './workspace-bed.ts';

export const environmentId = '58e2e6ff-46cf-477f-8705-f19c41923382';
export const sessionId = '92ea7b07-1c1f-4eb1-b222-b335f2123ed8';
export const transferId = 'c855661e-3b70-4d9a-8474-ac68371d4a28';
export const otherTransferId = '2826906a-a5d2-4620-868d-76d3ee1cb934';
export const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

/** A router with a bound folder on a real disk. */
export class FolderBed extends RouterBed {
  readonly root: string;
  readonly state: string;
  readonly workspace: WorkspaceService;
  readonly remove: () => Promise<void>;

  private constructor(root: string, state: string, workspace: WorkspaceService, remove: () => Promise<void>) {
    super({
      binding: { environmentId, sessionId, workspace: root, recordedDirectory: root },
      workspace,
    });
    this.root = root;
    this.state = state;
    this.workspace = workspace;
    this.remove = remove;
    this.harness.capabilities = declareCapabilities(
      capabilityNames.filter((name) => name !== 'environment_none' && name !== 'subagent_observations'),
    );
  }

  static async create(
    options: {
      wrap?: (workspace: LocalWorkspace) => WorkspaceService;
      createSteps?: LocalWorkspaceOptions['createSteps'];
      make?: (root: string, state: string) => LocalWorkspace;
    } = {},
  ): Promise<FolderBed> {
    const { path, remove } = await temporaryFolder();
    const root = join(path, 'root');
    const state = join(path, 'state');
    await mkdir(root);
    const local =
      options.make?.(root, state) ??
      new LocalWorkspace({
        ...{ root, stateDir: state, logger: silentLogger, createSteps: options.createSteps ?? null },
      });
    return new FolderBed(root, state, options.wrap?.(local) ?? local, remove);
  }

  /** The next frame with this id that has not been taken. */
  async answer(id: string): Promise<SentFrame> {
    await until(() => this.sent.some((frame) => frame.id === id), `an answer to ${id}`);
    const index = this.sent.findIndex((frame) => frame.id === id);
    const [frame] = this.sent.splice(index, 1);
    if (!frame) throw new Error('no frame');
    return frame;
  }
  async payload(id: string): Promise<unknown> {
    return (await this.answer(id)).payload;
  }

  /** Asks for a read-only preparation and returns its handle once it is ready. */
  async readOnly(request = 'ro'): Promise<string> {
    await this.raw(
      JSON.stringify({
        type: 'execution_prepare',
        id: request,
        payload: { session_id: sessionId, configuration: readOnlyConfiguration },
      }),
    );
    const first = (await this.payload(request)) as { state: string };
    if (first.state === 'rejected') throw new Error('it is rejected');
    const ready = (await this.payload(request)) as { state: string; handle: string };
    if (ready.state !== 'ready') throw new Error(`it is ${ready.state}`);
    return ready.handle;
  }
  read(id: string, read: Partial<FramePayload<'workspace_read'>>): Promise<void> {
    return this.core('workspace_read', id, {
      environment_id: environmentId,
      path: '',
      max_bytes: read.operation ? 0 : 100,
      ...read,
    } as FramePayload<'workspace_read'>);
  }
  /** The begin of a write or, with an action, of a preparation. */
  async beginWrite(
    id: string,
    path: string,
    data: string | Buffer,
    size = Buffer.byteLength(data),
  ): Promise<void> {
    await this.core('workspace_write', id, {
      step: 'begin',
      environment_id: environmentId,
      session_id: sessionId,
      path,
      size_bytes: size,
      sha256: sha256(data),
    });
  }
  chunk(
    type: 'workspace_write' | 'runtime_prepare',
    id: string,
    offset: number,
    data: Buffer,
  ): Promise<void> {
    return this.core(type, id, { step: 'chunk', offset, data: data.toString('base64') });
  }
  /** A whole write; returns its last answer. */
  async write(id: string, path: string, data: string): Promise<unknown> {
    await this.beginWrite(id, path, data);
    const begun = await this.payload(id);
    if ((begun as { outcome: string }).outcome !== 'ready') return begun;
    if (data !== '') {
      await this.chunk('workspace_write', id, 0, Buffer.from(data));
      await this.answer(id);
    }
    await this.core('workspace_write', id, { step: 'commit' });
    return this.payload(id);
  }
  /** An Executor of the bound Session, ready. */
  async prepareBound(request = 'prepare'): Promise<{ handle: string; executorId: string }> {
    await this.prepare(request, sessionId, {
      disable_execution_environment: false,
      local_environment: { id: environmentId, workspace_directory: '/workspace', capability_sources: null },
    });
    type Status = { state: string; handle: string; executor_id: string };
    let ready = (await this.payload(request)) as Status;
    if (ready.state === 'preparing') ready = (await this.payload(request)) as Status;
    return { handle: ready.handle, executorId: ready.executor_id };
  }
  async startBound(run = 'run', request = 'prepare'): Promise<void> {
    const { handle, executorId } = await this.prepareBound(request);
    await this.core('execution_start', request, {
      ...{ executor_id: executorId, handle, run_id: run },
      input: [{ content: [{ type: 'input_text', text: 'hello' }] }],
    });
    this.take();
  }
}

export const readOnlyConfiguration = {
  agent_kind: 'contract',
  conversation_id: '',
  run_id: '',
  local_environment: { id: environmentId, workspace_directory: '/workspace', capability_sources: null },
  workspace_read_only: true,
  agent_state_key: `agents-api-${sessionId}`,
  release_on_completion: true,
  strict_resume: true,
};
