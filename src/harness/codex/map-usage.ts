import type { UsagePayload } from '../../protocol/run-output.ts';
import type { TokenBreakdown } from './native-types.ts';

/**
 * The running total of one Turn (wire 4.2). The program counts for the whole conversation, also after a resume, so
 * what was there before the Turn is taken off.
 */
export class UsageMeter {
  readonly #model: string | null;
  #before: TokenBreakdown | null;
  #total: TokenBreakdown | null = null;

  /** `before`: the conversation's total when the Turn began; null when it was not told yet. */
  constructor(before: TokenBreakdown | null, model: string | null) {
    this.#before = before;
    this.#model = model;
  }

  updated(total: TokenBreakdown, last: TokenBreakdown): void {
    // Before the first answer of the model nothing of this Turn was counted.
    this.#before ??= minus(total, last);
    this.#total = total;
  }

  /** Null while nothing was measured: unknown, not zero. */
  snapshot(): UsagePayload | null {
    if (!this.#total || !this.#before) return null;
    const used = minus(this.#total, this.#before);
    return {
      tokens: {
        input_tokens: used.inputTokens,
        cached_input_tokens: used.cachedInputTokens,
        output_tokens: used.outputTokens,
        reasoning_output_tokens: used.reasoningOutputTokens,
        total_tokens: used.totalTokens,
      },
      input_tokens: used.inputTokens,
      output_tokens: used.outputTokens,
      ...(this.#model ? { model: this.#model } : {}),
    };
  }
}

const minus = (a: TokenBreakdown, b: TokenBreakdown): TokenBreakdown => ({
  totalTokens: a.totalTokens - b.totalTokens,
  inputTokens: a.inputTokens - b.inputTokens,
  cachedInputTokens: a.cachedInputTokens - b.cachedInputTokens,
  outputTokens: a.outputTokens - b.outputTokens,
  reasoningOutputTokens: a.reasoningOutputTokens - b.reasoningOutputTokens,
});
