import { PassThrough } from 'node:stream';

import type { ClientProcess } from '../../../../src/harness/process/line-client.ts';
import type { ProcessExit } from '../../../../src/harness/process/spawn.ts';
import { closed, type CloseResult } from '../../../../src/ownership/owned.ts';

/** A pair of pipes in place of the program: the test reads what was written and says what comes back. */
export class ScriptedProcess implements ClientProcess {
  readonly pid = 4242;
  readonly output = new PassThrough();
  readonly written: Record<string, unknown>[] = [];
  readonly exited: Promise<ProcessExit>;
  /** Answers control requests; undefined stays silent. */
  answer: (request: Record<string, unknown>) => Record<string, unknown> | undefined = () => ({});
  broken = false;
  #exit: (exit: ProcessExit) => void = () => undefined;
  #watchers: (() => void)[] = [];

  constructor() {
    this.exited = new Promise((resolve) => (this.#exit = resolve));
  }

  readonly input = {
    write: (...values: readonly unknown[]): Promise<void> => {
      if (this.broken) return Promise.reject(new Error('broken pipe'));
      for (const value of values) this.#take(JSON.parse(JSON.stringify(value)) as Record<string, unknown>);
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
  exitOnly(exit: ProcessExit): void {
    this.#exit(exit);
  }
  stop(): Promise<CloseResult> {
    this.end();
    return Promise.resolve(closed);
  }
  /** User messages so far. */
  get messages(): Record<string, unknown>[] {
    return this.written.filter((value) => value['type'] === 'user');
  }
  async until(reached: () => boolean): Promise<void> {
    while (!reached()) await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }

  #take(value: Record<string, unknown>): void {
    this.written.push(value);
    if (value['type'] === 'control_request') {
      const answer = this.answer(value['request'] as Record<string, unknown>);
      if (answer) this.say(response(String(value['request_id']), answer));
    }
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const watcher of watchers) watcher();
  }
}

export const response = (id: string, answer: unknown): unknown => ({
  type: 'control_response',
  response: { subtype: 'success', request_id: id, response: answer },
});
