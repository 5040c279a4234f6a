import { isJsonObject } from '../protocol/presence.ts';
import type { ScriptFrame } from './scenario.ts';

/** What the Runtime under test serves; the scenarios are written for `contractProfile`. */
export interface Profile {
  readonly kind: string;
  /** The bound Environment, or null for Environment type `none`. */
  readonly bound: { readonly environmentId: string; readonly sessionId: string } | null;
}

export const contractProfile: Profile = { kind: 'contract', bound: null };

/** Ids that stand for the bound ones in scenarios that need a bound folder. */
export const scenarioBinding = {
  environmentId: '58e2e6ff-46cf-477f-8705-f19c41923382',
  sessionId: '92ea7b07-1c1f-4eb1-b222-b335f2123ed8',
} as const;

/** What the bound folder holds before a scenario that is marked `seeded`. */
export const scenarioWorkspace = {
  files: { 'README.md': 'hello workspace\n' },
  folders: ['empty-folder'],
} as const;

/**
 * A frame of the scripted Core as this Runtime has to get it: its kind, and where a folder is bound, its Session and
 * its Environment instead of Environment type `none`.
 */
export function adapt(frame: ScriptFrame, profile: Profile): ScriptFrame {
  const named = replaceIds(frame.payload, profile);
  const payload = isJsonObject(named) ? named : {};
  if (frame.type === 'prompt_request') return { ...frame, payload: adaptConfiguration(payload, profile) };
  const { configuration, session_id: sessionId } = payload;
  if (frame.type !== 'execution_prepare' || !isJsonObject(configuration)) return { ...frame, payload };
  return {
    ...frame,
    payload: {
      ...payload,
      ...(sessionId === undefined ? {} : { session_id: sessionOf(sessionId, profile) }),
      configuration: adaptConfiguration(configuration, profile),
    },
  };
}

function adaptConfiguration(
  configuration: Record<string, unknown>,
  profile: Profile,
): Record<string, unknown> {
  const kind = configuration['agent_kind'] === 'contract' ? { agent_kind: profile.kind } : {};
  if (!profile.bound) return { ...configuration, ...kind };
  const { disable_execution_environment: none, ...rest } = configuration;
  const key = configuration['agent_state_key'];
  return {
    ...rest,
    ...kind,
    ...(key === 'agents-api-session' ? { agent_state_key: `agents-api-${profile.bound.sessionId}` } : {}),
    ...(none === true
      ? {
          local_environment: {
            id: profile.bound.environmentId,
            workspace_directory: '/workspace',
            capability_sources: null,
          },
        }
      : none === undefined
        ? {}
        : { disable_execution_environment: none }),
  };
}

const sessionOf = (sessionId: unknown, profile: Profile): unknown =>
  profile.bound && sessionId === 'session' ? profile.bound.sessionId : sessionId;

function replaceIds(value: unknown, profile: Profile): unknown {
  if (!profile.bound) return value;
  if (value === scenarioBinding.environmentId) return profile.bound.environmentId;
  if (value === scenarioBinding.sessionId) return profile.bound.sessionId;
  if (value === `agents-api-${scenarioBinding.sessionId}`) return `agents-api-${profile.bound.sessionId}`;
  if (Array.isArray(value)) return value.map((item) => replaceIds(item, profile));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaceIds(item, profile)]));
}
