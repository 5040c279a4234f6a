import { awaitingPerson } from '../../src/contract/awaiting.ts';
import type { HarnessView, HealthItem, View } from '../../src/contract/view.ts';
import { t } from '../i18n/t.ts';
import { isStopped } from '../../src/contract/worst-state.ts';
import { connectionLine } from './connection-line.ts';
import { mark, type Mark } from './mark.ts';
import { promptQueue } from './prompt-queue.ts';
import { at, counted, moment } from './time-words.ts';

/** What the whole Runtime comes to: the sentence of Home, the foot of the side bar, the banner. */

/** The title of the window: how many prompts need the person, then the screen. */
export function windowTitle(view: View | null, screen: string): string {
  const count = view === null ? 0 : awaitingPerson(view).length;
  return count > 0 ? t('title.needs_you', { count, screen }) : t('title.plain', { screen });
}

export interface Lede {
  readonly title: string;
  readonly text: string | null;
}

export function homeLede(view: View, now: number): Lede {
  const queue = promptQueue({ interactions: [...awaitingPerson(view)] });
  const oldest = queue[0];
  if (oldest !== undefined) {
    return {
      title: t('home.needs_you', { count: queue.length }),
      text: t(queue.length === 1 ? 'home.waited_one' : 'home.waited', {
        waited: counted(now - at(oldest.since)),
      }),
    };
  }
  const parts: string[] = [];
  if (view.turns.length > 0) parts.push(t('home.turns_open', { count: view.turns.length }));
  const lines = view.bindings.map((binding) =>
    connectionLine(binding, { now, unconfirmed: view.cleanup.length }),
  );
  const unwell = lines.filter((line) => line.mark.tone === 'bad' || line.mark.tone === 'warn').length;
  if (unwell > 0) parts.push(t('home.unwell', { count: unwell }));
  else if (lines.length > 0 && lines.every((line) => line.mark.tone === 'ok'))
    parts.push(t('home.all_connected', { count: lines.length }));
  if (view.cleanup.length > 0) parts.push(t('home.unsettled', { count: view.cleanup.length }));
  return { title: t('home.nothing'), text: parts.length === 0 ? null : parts.join(' ') };
}

export interface Foot {
  readonly state: 'starting' | 'running' | 'paused' | 'stopping' | 'stopped';
  readonly title: string;
  readonly text: string;
}

export function runtimeFoot(view: View, now: number): Foot {
  const open = view.turns.length === 0 ? t('foot.nothing') : t('foot.turns', { count: view.turns.length });
  if (view.runtime.state === 'stopping') return { state: 'stopping', title: t('foot.stopping'), text: open };
  if (isStopped(view)) return { state: 'stopped', title: t('foot.stopped'), text: open };
  if (view.runtime.state === 'paused') return { state: 'paused', title: t('foot.paused'), text: open };
  if (view.runtime.state === 'starting') return { state: 'starting', title: t('foot.starting'), text: open };
  return {
    state: 'running',
    title: t('foot.running', { at: moment(at(view.runtime.started_at), now) }),
    text: open,
  };
}

export interface RuntimeLine {
  readonly mark: Mark;
  readonly name: string;
  readonly state: string;
  readonly reason: string;
  readonly action: 'resume' | 'stop_now' | null;
}

/** The card above the connections while the Runtime as a whole is paused or stopping. */
export function runtimeLine(view: View, now: number): RuntimeLine | null {
  const count = view.turns.length;
  if (view.runtime.state === 'paused' && !isStopped(view)) {
    return {
      mark: mark('paus'),
      name: t('runtime.name'),
      state: t('runtime.paused'),
      reason: count === 0 ? t('runtime.paused.none') : t('runtime.paused.open', { count }),
      action: 'resume',
    };
  }
  if (view.runtime.state === 'stopping') {
    const oldest = Math.min(...view.turns.map((turn) => at(turn.started_at)));
    return {
      mark: mark('paus'),
      name: t('runtime.name'),
      state: count === 0 ? t('runtime.stopping.none') : t('runtime.stopping', { count }),
      reason:
        count === 0
          ? t('runtime.stopping.closing')
          : t('runtime.stopping.reason', { span: counted(now - oldest) }),
      action: count === 0 ? null : 'stop_now',
    };
  }
  return null;
}

/** Agents that the local Core may use. */
export const localAgents = (view: View): readonly HarnessView[] =>
  view.bindings.find((binding) => binding.local)?.harnesses ?? [];

/** The first agent that is ready and not the demo; the demo where no other is ready; else none. */
export function defaultAgent(agents: readonly HarnessView[]): HarnessView | null {
  const ready = agents.filter((agent) => agent.available);
  return ready.find((agent) => agent.kind !== 'demo') ?? ready[0] ?? null;
}

/** Nothing was ever asked of the local Core: Home is the composer. */
export const isFirstRun = (view: View): boolean =>
  view.bindings.length > 0 &&
  view.bindings.every((binding) => binding.local) &&
  view.turns.length === 0 &&
  view.interactions.length === 0 &&
  view.cleanup.length === 0 &&
  !view.history.some((entry) => entry.kind === 'turn');

const severities: Record<HealthItem['severity'], number> = { error: 0, warning: 1, info: 2 };

/** Worst first, then the oldest. */
export const healthBySeverity = (view: View): readonly HealthItem[] =>
  [...view.health].sort(
    (a, b) => severities[a.severity] - severities[b.severity] || at(a.since) - at(b.since),
  );

/** The one item that the banner shows: the worst error, else that a closed window leaves no icon behind. */
export const bannerItem = (view: View): HealthItem | null => {
  const items = healthBySeverity(view);
  return (
    items.find((item) => item.severity === 'error') ?? items.find((item) => item.code === 'no_tray') ?? null
  );
};

export const healthMark = (severity: HealthItem['severity']): Mark =>
  severity === 'error' ? mark('xx', 'bad') : severity === 'warning' ? mark('bang', 'warn') : mark('ring');
