import { awaitingPerson } from './awaiting.ts';
import type { ConnectionView, View } from './view.ts';

/** What the whole Runtime comes to, for the tray and the window alike. */
export type WorstState = 'needs_you' | 'disconnected' | 'working' | 'paused' | 'stopped' | 'connected';

/** A lost connection enters the tray after this long, so that a short gap does not flicker. Milliseconds. */
export const trayLossAfter = 10_000;

const parked = (connection: ConnectionView): boolean => connection.state === 'parked';

const lost = (connection: ConnectionView, now: number): boolean => {
  if (connection.state === 'serving' || connection.state === 'stopped' || connection.state === 'parked')
    return false;
  const since = connection.lost_at ?? (connection.state === 'waiting' ? connection.since : null);
  return since !== null && now - Date.parse(since) >= trayLossAfter;
};

export const isStopped = (view: View): boolean =>
  view.bindings.length > 0 && view.bindings.every(({ connection }) => connection.state === 'stopped');

/**
 * Worst wins: needs you, parked or lost, stopped, paused, working, connected. While any binding is well, one lost
 * binding stays in the menu; a parked one does not.
 */
export function worstState(view: View, now: number): WorstState {
  if (awaitingPerson(view).length > 0) return 'needs_you';
  const connections = view.bindings.map((binding) => binding.connection);
  const anyFine = connections.some((connection) => connection.state === 'serving');
  if (connections.some(parked)) return 'disconnected';
  if (!anyFine && connections.some((connection) => lost(connection, now))) return 'disconnected';
  if (isStopped(view)) return 'stopped';
  if (view.runtime.state === 'paused' || view.runtime.state === 'stopping') return 'paused';
  return view.turns.length > 0 ? 'working' : 'connected';
}
