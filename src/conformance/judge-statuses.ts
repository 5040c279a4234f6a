import { flag, number, text } from './history-reading.ts';
import type { HistoryEvent } from './history.ts';

type Sent = Extract<HistoryEvent, { does: 'hears' | 'takes' }>;

const order = ['preparing', 'ready', 'starting', 'started'];
const exits = ['released', 'expired', 'failed'];

interface HandleSeen {
  revision: number;
  readonly executor: string;
  readonly expires: number;
  state: string;
  run: string;
}

/** The statuses of every handle, in the order in which the Runtime sent them (wire 5.2). */
export function judgeStatuses(events: readonly HistoryEvent[]): string[] {
  const wrong: string[] = [];
  const handles = new Map<string, HandleSeen>();
  // What could not be told had its revision too, so they are read as they were sent where that was recorded.
  const recorded = events.some((event) => event.does === 'takes') ? 'takes' : 'hears';
  for (const event of events) {
    if ((event.does !== 'hears' && event.does !== 'takes') || event.does !== recorded) continue;
    if (event.frame.type !== 'preparation_status' || text(event.frame, 'state') === 'rejected') continue;
    wrong.push(...judgeStatus(handles, event));
  }
  return wrong;
}

function judgeStatus(handles: Map<string, HandleSeen>, event: Sent): string[] {
  const { frame, on } = event;
  const handle = text(frame, 'handle');
  const state = text(frame, 'state');
  const revision = number(frame, 'revision');
  const key = `${on} ${handle}`;
  const seen = handles.get(key);
  const now = {
    executor: text(frame, 'executor_id'),
    expires: number(frame, 'expires_at'),
    run: text(frame, 'run_id'),
  };
  const bad = (why: string): string[] => [`${handle}: ${why} (${state}, revision ${revision})`];
  if (!seen) {
    handles.set(key, { revision, state, ...now });
    const first = state === 'preparing' || (state === 'ready' && flag(frame, 'reused'));
    return revision === 1 && first ? [] : bad('the first status is none');
  }
  if (seen.executor !== now.executor || seen.expires !== now.expires)
    return bad('another Executor or expiry');
  if (revision === seen.revision)
    return state === seen.state ? [] : bad(`a revision of two states, ${seen.state}`);
  if (revision < seen.revision) return bad(`after revision ${seen.revision}`);
  const skipped = revision - seen.revision > 1;
  const doubled = state === 'failed' && text(frame, 'error_code') === 'executor_cleanup_unconfirmed';
  const previous = seen.state;
  handles.set(key, { revision, state, ...now });
  if (skipped && !(doubled && revision - seen.revision === 2)) return bad(`after revision ${seen.revision}`);
  if (exits.includes(previous)) return bad(`after ${previous}`);
  const rises = order.indexOf(state) === order.indexOf(previous) + 1;
  return rises || (exits.includes(state) && previous !== 'started') ? [] : bad(`after ${previous}`);
}
