import type { UsagePayload } from '../../protocol/run-output.ts';
import type { NativeUsage, ResultMessage } from './native-types.ts';

interface Tokens {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly thinking: number;
}
const none: Tokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, thinking: 0 };

/**
 * The running total of one Turn (wire 4.2). While the model talks the figures of its stream count; the result of a
 * native turn then settles what that turn used, and the results of one Turn add up. The cumulative figures of the
 * process are never used, because they go on over Turns and come back after a resume.
 */
export class UsageMeter {
  #settled = none;
  #live = new Map<string, Tokens>();
  #cost: number | null = null;
  #model: string | null = null;
  #seen = false;

  /** A message of the model began. */
  began(messageId: string, model: string | null, usage: NativeUsage | null): void {
    if (model) this.#model = model;
    if (usage) this.#set(messageId, none, usage);
  }

  /** Later figures of the same message replace the earlier ones; what they leave out stays. */
  progressed(messageId: string, usage: NativeUsage | null): void {
    if (usage) this.#set(messageId, this.#live.get(messageId) ?? none, usage);
  }

  /** A native turn ended. An aborted one reports less than its stream did; what was observed is kept. */
  settle(result: ResultMessage): void {
    const live = [...this.#live.values()].reduce(add, none);
    const reported = result.usage ? merge(none, result.usage) : live;
    this.#settled = add(this.#settled, result.is_error ? greater(live, reported) : reported);
    this.#live = new Map();
    // Zeros of a turn that failed before the model said anything are no measurement.
    if (result.usage && (!result.is_error || greatest(this.#settled) > 0)) this.#seen = true;
    for (const model of Object.values(result.model_usage_since_last_result ?? {})) {
      if (typeof model.costUSD === 'number') this.#cost = (this.#cost ?? 0) + model.costUSD;
    }
  }

  /** Null while nothing was measured: unknown, not zero. */
  snapshot(): UsagePayload | null {
    if (!this.#seen) return null;
    const total = add(this.#settled, [...this.#live.values()].reduce(add, none));
    const input = total.input + total.cacheRead + total.cacheWrite;
    return {
      tokens: {
        input_tokens: input,
        cached_input_tokens: total.cacheRead,
        output_tokens: total.output,
        reasoning_output_tokens: total.thinking,
        total_tokens: input + total.output,
      },
      input_tokens: total.input,
      output_tokens: total.output,
      ...(this.#model ? { model: this.#model } : {}),
      ...(this.#cost === null ? {} : { cost_usd: this.#cost }),
    };
  }

  #set(messageId: string, before: Tokens, usage: NativeUsage): void {
    this.#seen = true;
    this.#live.set(messageId, merge(before, usage));
  }
}

const merge = (before: Tokens, usage: NativeUsage): Tokens => ({
  input: usage.input_tokens ?? before.input,
  cacheRead: usage.cache_read_input_tokens ?? before.cacheRead,
  cacheWrite: usage.cache_creation_input_tokens ?? before.cacheWrite,
  output: usage.output_tokens ?? before.output,
  thinking: usage.output_tokens_details?.thinking_tokens ?? before.thinking,
});
const combine = (a: Tokens, b: Tokens, by: (x: number, y: number) => number): Tokens => ({
  input: by(a.input, b.input),
  cacheRead: by(a.cacheRead, b.cacheRead),
  cacheWrite: by(a.cacheWrite, b.cacheWrite),
  output: by(a.output, b.output),
  thinking: by(a.thinking, b.thinking),
});
const greatest = (tokens: Tokens): number => Math.max(...Object.values(tokens));
const add = (a: Tokens, b: Tokens): Tokens => combine(a, b, (x, y) => x + y);
const greater = (a: Tokens, b: Tokens): Tokens => combine(a, b, Math.max);
