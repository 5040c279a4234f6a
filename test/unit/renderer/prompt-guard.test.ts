import { describe, expect, test } from 'vitest';
import {
  freshGuard,
  guardStep,
  refusal,
  type GuardContext,
  type GuardEvent,
  type PromptGuard,
} from '../../../renderer/select/prompt-guard.ts';

const context = (now: number, over: Partial<GuardContext> = {}): GuardContext => ({
  now,
  connected: true,
  answerable: true,
  deciding: false,
  ...over,
});
const after = (...events: readonly (readonly [number, GuardEvent])[]): PromptGuard =>
  events.reduce((guard, [at, event]) => guardStep(guard, event, at), freshGuard(0));
const read = after([10, { type: 'end_seen' }]);

describe('the quiet time', () => {
  test('nothing is let through in the first 500 ms, neither allow nor deny', () => {
    for (const answer of ['allow', 'deny', 'answers', 'cancel'] as const) {
      expect(refusal(read, answer, 'click', context(499))).toBe('arriving');
      expect(refusal(read, answer, 'click', context(500))).toBeNull();
    }
  });

  test('appearing again and moving begin it anew', () => {
    for (const type of ['appeared', 'moved'] as const) {
      const guard = guardStep(read, { type }, 2_000);
      expect(refusal(guard, 'deny', 'click', context(2_499))).toBe('arriving');
      expect(refusal(guard, 'deny', 'click', context(2_500))).toBeNull();
    }
  });

  test('a key needs the focus inside for 500 ms as well', () => {
    expect(refusal(read, 'deny', 'key', context(5_000))).toBe('focus');
    const focused = guardStep(read, { type: 'focus_in' }, 5_000);
    expect(refusal(focused, 'deny', 'key', context(5_499))).toBe('focus');
    expect(refusal(focused, 'deny', 'key', context(5_500))).toBeNull();
    expect(refusal(guardStep(focused, { type: 'focus_out' }, 6_000), 'deny', 'key', context(7_000))).toBe(
      'focus',
    );
  });

  test('moving the focus within the prompt does not begin it again', () => {
    const twice = after(
      [10, { type: 'end_seen' }],
      [1_000, { type: 'focus_in' }],
      [1_400, { type: 'focus_in' }],
    );
    expect(refusal(twice, 'deny', 'key', context(1_500))).toBeNull();
  });
});

describe('unread input', () => {
  test('keeps Allow closed and Deny open', () => {
    expect(refusal(freshGuard(0), 'allow', 'click', context(9_999))).toBe('unread');
    expect(refusal(freshGuard(0), 'deny', 'click', context(9_999))).toBeNull();
  });
});

describe('locking', () => {
  const sent = guardStep(
    read,
    { type: 'sent', sending: { answer: 'deny', scope: null, withReason: false } },
    1_000,
  );

  test('an answer under way locks every other', () => {
    expect(refusal(sent, 'allow', 'click', context(2_000))).toBe('sending');
    expect(
      guardStep(
        sent,
        { type: 'sent', sending: { answer: 'allow', scope: 'once', withReason: false } },
        1_001,
      ),
    ).toBe(sent);
  });

  test('an answer of another front end locks too', () => {
    expect(refusal(read, 'deny', 'click', context(2_000, { deciding: true }))).toBe('sending');
  });

  test('only a definite no opens it again, with its reason', () => {
    const refused = guardStep(sent, { type: 'refused', message: 'No.' }, 1_500);
    expect(refused).toMatchObject({ sending: null, refused: 'No.' });
    expect(refusal(refused, 'deny', 'click', context(2_000))).toBeNull();
  });
});

test('without a connection, and where only Core may answer, nothing is let through', () => {
  expect(refusal(read, 'deny', 'click', context(2_000, { connected: false }))).toBe('disconnected');
  expect(refusal(read, 'deny', 'click', context(2_000, { answerable: false }))).toBe('core_only');
});
