import type { CommandAnswer, CommandName, CommandRequest, FrontEnd } from '../contract/commands.ts';
import type { View } from '../contract/view.ts';
import { RuntimeError, errorCodes } from '../observe/errors.ts';
import type { Daemon } from './daemon.ts';

/** The daemon as a front end in the same process sees it: the same commands through the same gate. */
export class InProcessFrontEnd implements FrontEnd {
  readonly #daemon: Daemon;
  constructor(daemon: Daemon) {
    this.#daemon = daemon;
  }

  async call<N extends CommandName>(name: N, request: CommandRequest<N>): Promise<CommandAnswer<N>> {
    const result = await this.#daemon.run(name, request);
    if (!result.ok) {
      const { code, message } = result.error;
      throw new RuntimeError('rejected', errorCodes.find((known) => known === code) ?? 'fault', message);
    }
    const { commands } = await import('../contract/commands.ts');
    // The table binds this name to this answer; the parse is the proof.
    return commands[name].answer.parse(result.answer) as CommandAnswer<N>;
  }

  onView(listener: (view: View) => void): () => void {
    return this.#daemon.publisher.subscribe(listener);
  }
}
