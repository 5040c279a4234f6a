import { PassThrough } from 'node:stream';

import type { HarnessEvent, TurnOutput } from '../../../../src/harness/adapter.ts';
import type { ClientProcess } from '../../../../src/harness/process/line-client.ts';
import type { ProcessExit } from '../../../../src/harness/process/spawn.ts';
import { closed, type CloseResult } from '../../../../src/ownership/owned.ts';

/** What was written to the program. */
export interface Line {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly code: number };
}

/** Leaves a request without an answer. */
export const silence = Symbol('silence');
export const refusal = (message = 'no', code = -32600): unknown => ({ refused: { code, message } });

/** A pair of pipes in place of the app server: the test reads what was written and says what comes back. */
export class ScriptedServer implements ClientProcess {
  readonly pid = 4242;
  readonly output = new PassThrough();
  readonly written: Line[] = [];
  readonly exited: Promise<ProcessExit>;
  /** Answers requests: a result, `refusal(…)` or `silence`. */
  answer: (method: string, params: Readonly<Record<string, unknown>>) => unknown = () => ({});
  broken = false;
  #exit: (exit: ProcessExit) => void = () => undefined;
  #watchers: (() => void)[] = [];

  constructor() {
    this.exited = new Promise((resolve) => (this.#exit = resolve));
  }

  readonly input = {
    write: (...values: readonly unknown[]): Promise<void> => {
      if (this.broken) return Promise.reject(new Error('broken pipe'));
      for (const value of values) this.#take(JSON.parse(JSON.stringify(value)) as Line);
      return Promise.resolve();
    },
  };

  say(...values: unknown[]): void {
    for (const value of values)
      this.output.write(`${typeof value === 'string' ? value : JSON.stringify(value)}\n`);
  }
  end(exit: ProcessExit = { code: 0, signal: null }): void {
    this.#exit(exit);
    this.output.end();
  }
  stop(): Promise<CloseResult> {
    this.end();
    return Promise.resolve(closed);
  }
  asked(method: string): Line[] {
    return this.written.filter((line) => line.method === method);
  }
  /** Our answers to requests of the program. */
  get replies(): Line[] {
    return this.written.filter((line) => line.method === undefined);
  }
  async until(reached: () => boolean): Promise<void> {
    while (!reached()) await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }

  #take(line: Line): void {
    this.written.push(line);
    if (line.method !== undefined && line.id !== undefined) {
      const answer = this.answer(line.method, line.params ?? {});
      if (answer !== silence)
        this.say(
          isRefusal(answer) ? { id: line.id, error: answer.refused } : { id: line.id, result: answer },
        );
    }
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const watcher of watchers) watcher();
  }
}

const isRefusal = (value: unknown): value is { readonly refused: unknown } =>
  typeof value === 'object' && value !== null && 'refused' in value;

export class Collected implements TurnOutput {
  readonly events: HarnessEvent[] = [];
  closed = false;
  emit(event: HarnessEvent): Promise<void> {
    this.events.push(event);
    return Promise.resolve();
  }
  close(): void {
    this.closed = true;
  }
  get types(): string[] {
    return this.events.map((event) => event.type);
  }
}
