import type { ScriptFrame } from './scenario.ts';

/**
 * What Core, the Harness and the person saw of a Runtime, in the order in which it happened. Every fault run writes one
 * (schedules, chaos, scenarios) and `history-checker.ts` judges it; nothing in it is taken from the Runtime's insides.
 */
export type HistoryEvent =
  /** A frame reached the Runtime. `on` counts the connections from 1. */
  | { readonly by: 'core'; readonly does: 'says'; readonly on: number; readonly frame: ScriptFrame }
  /** A frame of the Runtime reached Core. */
  | { readonly by: 'core'; readonly does: 'hears'; readonly on: number; readonly frame: ScriptFrame }
  /** Where the way to Core is under control: the Runtime sent a frame, whatever becomes of it. */
  | { readonly by: 'link'; readonly does: 'takes'; readonly on: number; readonly frame: ScriptFrame }
  /** The Runtime was told that a frame could not be written: Core may or may not hear it yet. */
  | { readonly by: 'link'; readonly does: 'gives up'; readonly on: number; readonly frame: ScriptFrame }
  | { readonly by: 'link'; readonly does: 'opens' | 'loses'; readonly on: number }
  /** The Runtime says that nothing of a connection is left. */
  | { readonly by: 'link'; readonly does: 'settles'; readonly on: number }
  | HarnessEventSeen
  /** A prompt appeared at the Runtime; `key` is its native identity. */
  | {
      readonly by: 'person';
      readonly does: 'sees';
      readonly interaction: string;
      readonly run: string;
      readonly key: string;
    }
  | {
      readonly by: 'person';
      readonly does: 'answers';
      readonly interaction: string;
      readonly with: string;
      readonly told: string;
    }
  /** A person recorded native work as gone without proof. */
  | { readonly by: 'person'; readonly does: 'forces'; readonly executor: number };

/** Calls of the adapter contract and what they came to. Executors are counted from 1 over the whole history. */
export type HarnessEventSeen =
  | { readonly by: 'harness'; readonly does: 'prepares'; readonly executor: number; readonly session: string }
  | {
      readonly by: 'harness';
      readonly does: 'has prepared';
      readonly executor: number;
      /** `leftover`: it failed and there is something to close. */
      readonly result: 'ready' | 'leftover' | 'nothing';
    }
  | { readonly by: 'harness'; readonly does: 'starts'; readonly executor: number; readonly run: string }
  | {
      readonly by: 'harness';
      readonly does: 'has started';
      readonly executor: number;
      readonly run: string;
      readonly turn: boolean;
    }
  | { readonly by: 'harness'; readonly does: 'is cancelled'; readonly run: string }
  | {
      readonly by: 'harness';
      readonly does: 'settles';
      readonly run: string;
      readonly settled: boolean;
      readonly reusable: boolean;
    }
  | { readonly by: 'harness'; readonly does: 'closes'; readonly executor: number }
  | {
      readonly by: 'harness';
      readonly does: 'has closed';
      readonly executor: number;
      readonly confirmed: boolean;
    }
  /** `text` of a delta, `key` of a prompt. */
  | {
      readonly by: 'harness';
      readonly does: 'emits';
      readonly run: string;
      readonly event: string;
      readonly text: string;
    }
  | { readonly by: 'harness'; readonly does: 'takes input'; readonly run: string; readonly text: string }
  | { readonly by: 'harness'; readonly does: 'has written'; readonly run: string; readonly text: string }
  | {
      readonly by: 'harness';
      readonly does: 'answers input';
      readonly run: string;
      readonly text: string;
      readonly result: string;
    }
  | {
      readonly by: 'harness';
      readonly does: 'takes decision';
      readonly run: string;
      readonly key: string;
      readonly answer: string;
    }
  | {
      readonly by: 'harness';
      readonly does: 'answers decision';
      readonly run: string;
      readonly key: string;
      readonly answer: string;
      readonly result: string;
    }
  | { readonly by: 'harness'; readonly does: 'takes result'; readonly run: string; readonly call: string }
  | {
      readonly by: 'harness';
      readonly does: 'answers result';
      readonly run: string;
      readonly call: string;
      readonly result: string;
    };

export class History {
  readonly events: HistoryEvent[] = [];
  #executors = 0;

  add(event: HistoryEvent): void {
    this.events.push(event);
  }
  nextExecutor(): number {
    return ++this.#executors;
  }
}

/** One line an event, for whoever looks at a failed run. */
export function historyText(events: readonly HistoryEvent[]): string {
  return events
    .map((event, index) => {
      const { by, does, ...rest } = event;
      const more = 'frame' in rest ? frameText(rest.frame) : JSON.stringify(rest);
      const on = 'on' in event ? `#${event.on} ` : '';
      return `${String(index).padStart(4)} ${on}${by} ${does} ${more}`;
    })
    .join('\n');
}

const frameText = (frame: ScriptFrame): string => {
  const payload = JSON.stringify(frame.payload);
  return `${frame.type} ${frame.id} ${payload.length > 300 ? `${payload.slice(0, 300)}…` : payload}`;
};
