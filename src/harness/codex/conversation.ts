import { join } from 'node:path';

import type { CodexClient } from './client.ts';
import { threadConfig, type LaunchPlan } from './configuration.ts';
import {
  accountResult,
  configResult,
  modelListResult,
  requirementsResult,
  skillsListResult,
  threadResult,
  threadStartResult,
  type ThreadStart,
} from './native-types.ts';
import { isSignedIn, referredVariables } from './probe.ts';

/** Each small question, milliseconds. */
const STEP_LIMIT_MS = 15_000;
/** Opening a conversation waits for required MCP servers and reads a long one from disk. */
const OPEN_LIMIT_MS = 90_000;

export const SIGNED_OUT = 'Codex is not signed in. Run "codex login" in a terminal.';

export type OpenedConversation =
  | { readonly kind: 'open'; readonly threadId: string; readonly model: string }
  /** For a person. */
  | { readonly kind: 'refused'; readonly message: string };

const refused = (message: string): OpenedConversation => ({ kind: 'refused', message });

/**
 * Opens or continues the conversation of an Executor, without a model request. What the program answers is compared
 * with what was asked for: managed settings of the machine may overrule it, and asking proves nothing.
 * @throws RuntimeError when the program does not answer, or answers something else
 */
export async function openConversation(
  client: CodexClient,
  plan: LaunchPlan,
  place: { readonly cwd: string; readonly owner: string },
  resume: string | null,
): Promise<OpenedConversation> {
  if (plan.modelProvider === null) {
    const account = accountResult.parse(await client.request('account/read', {}, STEP_LIMIT_MS));
    if (!isSignedIn(account)) return refused(SIGNED_OUT);
  }
  if (plan.webSearch !== null) {
    const { requirements } = requirementsResult.parse(
      await client.request('configRequirements/read', undefined, STEP_LIMIT_MS),
    );
    const modes = requirements?.allowedWebSearchModes;
    if (modes && !modes.includes(plan.webSearch))
      return refused('The managed settings of this machine do not allow this kind of web search in Codex.');
  }
  const { config: own } = configResult.parse(await client.request('config/read', {}, STEP_LIMIT_MS));
  const settings = threadConfig(plan, own, referredVariables(own), place.owner);
  if ('problem' in settings) return refused(settings.problem);
  const { cwd } = place;
  if (!(await offerSkills(client, plan, cwd)))
    return refused('Codex does not accept a Skill of this Agent, so it was not started.');

  const common = {
    cwd,
    approvalPolicy: plan.approvalPolicy,
    // A person's own settings may hand approvals to an automatic reviewer.
    approvalsReviewer: 'user',
    sandbox: plan.sandbox,
    config: settings.config,
    ...(plan.model === null ? {} : { model: plan.model }),
    ...(plan.modelProvider === null ? {} : { modelProvider: plan.modelProvider }),
    ...(plan.instructions === null ? {} : { developerInstructions: plan.instructions }),
  };
  const answer =
    resume === null
      ? await client.ask(
          'thread/start',
          {
            ...common,
            ...(plan.dynamicTools.length > 0 ? { dynamicTools: plan.dynamicTools } : {}),
            ...(plan.noEnvironment ? { environments: [] } : {}),
          },
          OPEN_LIMIT_MS,
        )
      : await client.ask('thread/resume', { ...common, threadId: resume, excludeTurns: true }, OPEN_LIMIT_MS);
  if (answer.kind === 'refused') return refused(whyNot(plan, resume, answer.refusal.code));
  const thread = threadStartResult.parse(answer.result);
  const problem =
    contradiction(plan, thread, resume) ??
    (await leaveEnvironment(client, plan, thread)) ??
    (await unknownModel(client, plan, thread.model));
  return problem === null
    ? { kind: 'open', threadId: thread.thread.id, model: thread.model }
    : refused(problem);
}

/** A conversation that could not be set up, while its settings were read; the program's text is not looked at. */
const SETUP_FAILED = -32603;

function whyNot(plan: LaunchPlan, resume: string | null, code: number): string {
  if (code === SETUP_FAILED && plan.requiredServers.length > 0)
    return `Codex could not start an MCP server that this Agent needs: ${plan.requiredServers.join(', ')}.`;
  if (code === SETUP_FAILED)
    return 'Codex could not set up a conversation. If your own Codex settings require an MCP server, check that it starts.';
  if (resume !== null)
    return 'Codex does not have the earlier conversation of this Session on this machine any more, or does not accept its settings.';
  return 'Codex does not accept the settings of this Agent. Look at its model, functions and MCP servers.';
}

function contradiction(plan: LaunchPlan, started: ThreadStart, resume: string | null): string | null {
  const sandbox = {
    'read-only': 'readOnly',
    'workspace-write': 'workspaceWrite',
    'danger-full-access': 'dangerFullAccess',
  }[plan.sandbox];
  if (started.approvalPolicy !== plan.approvalPolicy || started.approvalsReviewer !== 'user')
    return 'The settings of this machine do not let Codex ask the person as they should.';
  if (started.sandbox.type !== sandbox)
    return 'The settings of this machine do not allow Codex the access that was chosen for it.';
  if (resume !== null && started.thread.id !== resume) return 'Codex opened another conversation.';
  if (started.thread.ephemeral || started.thread.parentThreadId)
    return 'Codex opened a conversation that cannot be continued.';
  return null;
}

/** A conversation that is continued comes back with the environment of this machine, also where it had none. */
async function leaveEnvironment(
  client: CodexClient,
  plan: LaunchPlan,
  { thread }: ThreadStart,
): Promise<string | null> {
  if (!plan.noEnvironment) return null;
  const has = (environments: ThreadStart['thread']['environments']): boolean => environments?.length !== 0;
  if (!has(thread.environments)) return null;
  const threadId = thread.id;
  await client.request('thread/settings/update', { threadId, environments: [] }, STEP_LIMIT_MS);
  const read = threadResult.parse(await client.request('thread/read', { threadId }, STEP_LIMIT_MS));
  return has(read.thread.environments) ? 'Codex could not be kept from running commands.' : null;
}

async function unknownModel(client: CodexClient, plan: LaunchPlan, model: string): Promise<string | null> {
  if (plan.knownModel === null) return null;
  const list = modelListResult.parse(
    await client.request('model/list', { includeHidden: true, limit: 1_000 }, STEP_LIMIT_MS),
  );
  return list.data.some((known) => known.model === model) ? null : plan.knownModel;
}

/** Skills are further folders of the process; whether it took them is looked up. */
async function offerSkills(client: CodexClient, plan: LaunchPlan, cwd: string): Promise<boolean> {
  if (plan.skillFolders.length === 0) return true;
  await client.request('skills/extraRoots/set', { extraRoots: plan.skillFolders }, STEP_LIMIT_MS);
  const list = skillsListResult.parse(
    await client.request('skills/list', { cwds: [cwd], forceReload: true }, STEP_LIMIT_MS),
  );
  const enabled = new Set(
    list.data.flatMap(({ skills }) => skills.filter((skill) => skill.enabled).map((skill) => skill.path)),
  );
  return plan.skillFolders.every((folder) => enabled.has(join(folder, 'SKILL.md')));
}
