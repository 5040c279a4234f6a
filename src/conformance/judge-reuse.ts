import type { HistoryEvent } from './history.ts';

/** Whether every Turn began on an Executor that was free and fit for it. */
export function judgeReuse(events: readonly HistoryEvent[]): string[] {
  const wrong: string[] = [];
  /** What keeps an Executor from the next Turn, while it does. */
  const kept = new Map<number, string>();
  const executorOf = new Map<string, number>();
  for (const event of events) {
    switch (event.does) {
      case 'prepares':
        kept.set(event.executor, 'in preparation');
        break;
      case 'has prepared':
        if (event.result !== 'ready') kept.set(event.executor, 'not prepared');
        else if (kept.get(event.executor) === 'in preparation') kept.delete(event.executor);
        break;
      case 'closes':
        kept.set(event.executor, 'closed');
        break;
      case 'starts': {
        const why = kept.get(event.executor);
        if (why !== undefined) wrong.push(`Run ${event.run} starts on Executor ${event.executor}: ${why}`);
        else kept.set(event.executor, `at work for Run ${event.run}`);
        executorOf.set(event.run, event.executor);
        break;
      }
      case 'settles': {
        if (event.by !== 'harness' || !event.settled) break;
        const executor = executorOf.get(event.run) ?? 0;
        if (kept.get(executor) !== `at work for Run ${event.run}`) break;
        if (event.reusable) kept.delete(executor);
        else kept.set(executor, 'of no more use');
        break;
      }
      default:
        break;
    }
  }
  return wrong;
}
