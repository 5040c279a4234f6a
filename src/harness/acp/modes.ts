import type { SessionResponse } from './protocol.ts';

/**
 * Ids of modes in which an agent asks the person before it acts, best first. There is no standard for them: these
 * were seen at the agents that the documentation names. A mode of another name is not believed to ask.
 */
const ASKING = ['default', 'ask', 'manual', 'workspace-write', 'build', 'normal', 'code'];

/** What to do about an agent's mode after a session was opened. */
export type ModeChoice =
  /** It has one way to work; whether it asks is its own business, and every request of it is shown. */
  | { readonly kind: 'none' }
  | { readonly kind: 'already'; readonly id: string }
  | { readonly kind: 'set'; readonly method: string; readonly params: object; readonly id: string }
  /** It offers modes and none is known to ask. */
  | { readonly kind: 'unknown' };

export function chooseMode(sessionId: string, session: SessionResponse): ModeChoice {
  const option = session.configOptions?.find(({ category }) => category === 'mode');
  if (session.modes) {
    const id = asking(session.modes.availableModes.map((mode) => mode.id));
    if (id === null) return { kind: 'unknown' };
    if (id === session.modes.currentModeId) return { kind: 'already', id };
    return { kind: 'set', method: 'session/set_mode', params: { sessionId, modeId: id }, id };
  }
  if (!option) return { kind: 'none' };
  const id = asking(valuesOf(option));
  if (id === null) return { kind: 'unknown' };
  if (id === option.currentValue) return { kind: 'already', id };
  const params = { sessionId, configId: option.id, value: id };
  return { kind: 'set', method: 'session/set_config_option', params, id };
}

/** How to choose a model; null when the agent does not offer it. */
export function chooseModel(
  sessionId: string,
  session: SessionResponse,
  model: string,
): { readonly method: string; readonly params: object } | 'already' | null {
  const option = session.configOptions?.find(({ category }) => category === 'model');
  if (!option || !valuesOf(option).includes(model)) return null;
  if (option.currentValue === model) return 'already';
  return { method: 'session/set_config_option', params: { sessionId, configId: option.id, value: model } };
}

const asking = (ids: readonly string[]): string | null => ASKING.find((id) => ids.includes(id)) ?? null;

const valuesOf = (option: NonNullable<SessionResponse['configOptions']>[number]): readonly string[] =>
  (option.options ?? []).flatMap((choice) =>
    'value' in choice && typeof choice.value === 'string'
      ? [choice.value]
      : 'options' in choice && Array.isArray(choice.options)
        ? choice.options.map(({ value }) => value)
        : [],
  );
