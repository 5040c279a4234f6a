import type { UsagePayload } from '../../protocol/run-output.ts';
import type { TokenBreakdown } from './native-types.ts';

/** Of the native figures only these are counts; its grand total also stands for a full context. */
type Counts = Pick<
  TokenBreakdown,
  'inputTokens' | 'cachedInputTokens' | 'outputTokens' | 'reasoningOutputTokens'
>;
const none: Counts = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningOutputTokens: 0 };

/**
 * The running total of one Turn (wire 4.2). The program counts for the whole conversation, also after a resume, so
 * what was there before the Turn is taken off. After an overflow of the context it begins again from zero; what was
 * counted until then is kept.
 */
export class UsageMeter {
  readonly #model: string | null;
  #last: Counts | null;
  #used = none;

  /** `before`: the conversation's total when the Turn began; null when it was not told yet. */
  constructor(before: TokenBreakdown | null, model: string | null) {
    this.#last = before;
    this.#model = model;
  }

  updated(total: TokenBreakdown, last: TokenBreakdown): void {
    this.#last ??= minus(total, last);
    const began = sum(total) < sum(this.#last) ? none : this.#last;
    // A fresh start is no use of its own.
    if (sum(total) > 0) this.#used = plus(this.#used, minus(total, began));
    this.#last = total;
  }

  /** Null while nothing was measured: unknown, not zero. */
  snapshot(): UsagePayload | null {
    const { inputTokens, cachedInputTokens, outputTokens, reasoningOutputTokens } = this.#used;
    if (inputTokens + outputTokens === 0) return null;
    return {
      tokens: {
        input_tokens: inputTokens,
        cached_input_tokens: cachedInputTokens,
        output_tokens: outputTokens,
        reasoning_output_tokens: reasoningOutputTokens,
        total_tokens: inputTokens + outputTokens,
      },
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      ...(this.#model ? { model: this.#model } : {}),
    };
  }
}

const sum = (counts: Counts): number => counts.inputTokens + counts.outputTokens;

const combine = (a: Counts, b: Counts, by: (x: number, y: number) => number): Counts => ({
  inputTokens: by(a.inputTokens, b.inputTokens),
  cachedInputTokens: by(a.cachedInputTokens, b.cachedInputTokens),
  outputTokens: by(a.outputTokens, b.outputTokens),
  reasoningOutputTokens: by(a.reasoningOutputTokens, b.reasoningOutputTokens),
});
const plus = (a: Counts, b: Counts): Counts => combine(a, b, (x, y) => x + y);
const minus = (a: Counts, b: Counts): Counts => combine(a, b, (x, y) => x - y);
