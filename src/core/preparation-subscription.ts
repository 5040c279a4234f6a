import { CORE_PREPARATION_BUFFER } from '../protocol/limits.ts';
import { finalPreparationStates, type PreparationStatusPayload } from '../protocol/preparation.ts';
import { BoundedStream, type Observation, type ObservationEnd } from './bounded-stream.ts';

/**
 * The statuses of one preparation request. The first handle that is seen binds; older, repeated and foreign statuses
 * are dropped, because a status of one handle says nothing about another. A rejection answers one request: it passes
 * through and ends nothing.
 */
export class PreparationSubscription {
  readonly #stream: BoundedStream<PreparationStatusPayload>;
  #handle: string | undefined;
  #revision = 0;

  constructor(onEnd: () => void) {
    this.#stream = new BoundedStream(CORE_PREPARATION_BUFFER, onEnd);
  }

  get ended(): boolean {
    return this.#stream.ended;
  }

  offer(status: PreparationStatusPayload): void {
    if (status.state === 'rejected') {
      this.#stream.push(status);
      return;
    }
    if (!status.handle || status.revision <= this.#revision) return;
    this.#handle ??= status.handle;
    if (this.#handle !== status.handle) return;
    this.#revision = status.revision;
    this.#stream.push(status);
    if (finalPreparationStates.some((state) => state === status.state)) this.#stream.end('complete');
  }

  next(): Promise<Observation<PreparationStatusPayload>> {
    return this.#stream.next();
  }

  end(end: ObservationEnd): void {
    this.#stream.end(end);
  }
}
