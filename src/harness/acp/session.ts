import type { AgentAnswer, AgentConnection } from './connection.ts';
import type { SessionPlan } from './configuration.ts';
import { chooseMode, chooseModel } from './modes.ts';
import {
  SIGN_IN_NEEDED,
  initializeResponse,
  sessionResponse,
  type InitializeResponse,
  type SessionResponse,
} from './protocol.ts';

/** An agent may read its settings, sign in and start servers of its own before it answers. */
const INITIALIZE_LIMIT_MS = 30_000;
const SESSION_LIMIT_MS = 60_000;
const SETTING_LIMIT_MS = 10_000;

/** What an agent says of itself, once it is understood. */
export interface AgentFacts {
  readonly version: string | null;
  readonly resume: 'resume' | 'load' | null;
  readonly images: boolean;
  readonly http: boolean;
  readonly closes: boolean;
}

export type Handshake =
  | { readonly kind: 'agent'; readonly facts: AgentFacts }
  /** For a person. */
  | { readonly kind: 'failed'; readonly message: string };

/**
 * `initialize`. No file system and no terminal of ours is offered: the agent uses its own, as in a terminal.
 * @throws RuntimeError when the agent is gone or silent.
 */
export async function shakeHands(connection: AgentConnection): Promise<Handshake> {
  const answer = await connection.request(
    'initialize',
    {
      protocolVersion: 1,
      clientInfo: { name: 'agent-runtime', title: 'Agent Runtime', version: '1' },
      clientCapabilities: {
        fs: { readTextFile: false, writeTextFile: false },
        terminal: false,
        elicitation: { form: {} },
      },
    },
    INITIALIZE_LIMIT_MS,
  );
  const parsed = answer.kind === 'answer' ? initializeResponse.safeParse(answer.value) : null;
  if (!parsed?.success)
    return { kind: 'failed', message: 'The agent does not speak the Agent Client Protocol.' };
  if (parsed.data.protocolVersion !== 1) {
    return {
      kind: 'failed',
      message: 'The agent speaks another version of the Agent Client Protocol than 1.',
    };
  }
  return { kind: 'agent', facts: factsOf(parsed.data) };
}

function factsOf({ agentInfo, agentCapabilities: declared }: InitializeResponse): AgentFacts {
  const sessions = declared?.sessionCapabilities;
  return {
    version: agentInfo?.version ?? null,
    resume: sessions?.resume ? 'resume' : declared?.loadSession ? 'load' : null,
    images: declared?.promptCapabilities.image === true,
    http: declared?.mcpCapabilities.http === true,
    closes: sessions?.close === true,
  };
}

export type OpenedSession =
  /** `asks`: it is in a mode that is known to ask, or has one way to work and no modes. */
  | { readonly kind: 'open'; readonly sessionId: string; readonly asks: boolean }
  | { readonly kind: 'signed_out' }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Opens or continues a session and puts it into a mode that asks. No prompt is sent.
 * @throws RuntimeError when the agent is gone or silent.
 */
export async function openSession(
  connection: AgentConnection,
  facts: AgentFacts,
  plan: SessionPlan,
  cwd: string,
): Promise<OpenedSession> {
  if (plan.resume !== null && facts.resume === null) {
    return { kind: 'failed', message: 'This agent cannot continue an earlier conversation.' };
  }
  const method = plan.resume === null ? 'session/new' : `session/${facts.resume ?? 'resume'}`;
  const params = {
    cwd,
    mcpServers: plan.mcpServers,
    ...(plan.resume === null ? {} : { sessionId: plan.resume }),
  };
  const answer = await connection.request(method, params, SESSION_LIMIT_MS);
  if (answer.kind === 'refused') return refused(answer, plan.resume !== null);
  const parsed = sessionResponse.safeParse(answer.value ?? {});
  const sessionId = plan.resume ?? (parsed.success ? (parsed.data.sessionId ?? null) : null);
  if (!parsed.success || sessionId === null) {
    return { kind: 'failed', message: 'The agent opened a session in a way that is not understood.' };
  }
  return configure(connection, sessionId, parsed.data, plan.model);
}

async function configure(
  connection: AgentConnection,
  sessionId: string,
  session: SessionResponse,
  model: string | null,
): Promise<OpenedSession> {
  const mode = chooseMode(sessionId, session);
  if (mode.kind === 'set') {
    const set = await connection.request(mode.method, mode.params, SETTING_LIMIT_MS);
    if (set.kind === 'refused')
      return { kind: 'failed', message: 'The agent refused a mode in which it asks.' };
  }
  if (model !== null) {
    const choice = chooseModel(sessionId, session, model);
    const set =
      choice === null || choice === 'already'
        ? null
        : await connection.request(choice.method, choice.params, SETTING_LIMIT_MS);
    if (choice === null || set?.kind === 'refused') {
      return { kind: 'failed', message: 'The agent does not offer the model that was asked for.' };
    }
  }
  return { kind: 'open', sessionId, asks: mode.kind !== 'unknown' };
}

function refused(answer: Extract<AgentAnswer, { kind: 'refused' }>, resuming: boolean): OpenedSession {
  if (answer.code === SIGN_IN_NEEDED) return { kind: 'signed_out' };
  return {
    kind: 'failed',
    message: resuming
      ? 'The agent does not have the earlier conversation of this Session any more.'
      : 'The agent could not open a session. Start it in a terminal and look what it says.',
  };
}
