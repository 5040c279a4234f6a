import fc from 'fast-check';

/**
 * One step of a schedule: plain numbers, interpreted against what there is when it comes to it (`pick` chooses among
 * the open handles, Runs, calls), so that any sequence is a program and shrinks well.
 */
export type Operation =
  /** Core. */
  | { readonly op: 'prepare'; readonly session: number; readonly variant: number; readonly again: boolean }
  | { readonly op: 'start'; readonly pick: number; readonly variant: number }
  | { readonly op: 'release'; readonly pick: number; readonly variant: number }
  | { readonly op: 'cancel'; readonly pick: number; readonly delivery: number }
  | { readonly op: 'steer'; readonly pick: number; readonly input: number; readonly variant: number }
  | { readonly op: 'decide'; readonly pick: number; readonly variant: number }
  | { readonly op: 'result'; readonly pick: number; readonly call: number; readonly variant: number }
  | { readonly op: 'direct'; readonly session: number; readonly variant: number }
  | { readonly op: 'quiesce'; readonly variant: number }
  | { readonly op: 'resume'; readonly variant: number }
  | { readonly op: 'device_shutdown' }
  /** The Harness. */
  | { readonly op: 'native'; readonly pick: number; readonly how: number }
  | { readonly op: 'emit'; readonly pick: number; readonly which: number }
  | { readonly op: 'done'; readonly pick: number }
  | { readonly op: 'settle'; readonly pick: number; readonly how: number }
  | { readonly op: 'close_output'; readonly pick: number }
  | { readonly op: 'input'; readonly pick: number; readonly how: number }
  | { readonly op: 'break'; readonly pick: number }
  /** Time, the way to Core, the person, the link. */
  | { readonly op: 'advance'; readonly ms: number }
  | { readonly op: 'jump'; readonly ms: number }
  | { readonly op: 'fail_sends'; readonly count: number }
  | { readonly op: 'block_sends' }
  | { readonly op: 'unblock_sends' }
  | { readonly op: 'backed_up'; readonly on: boolean }
  | { readonly op: 'too_large' }
  | { readonly op: 'answer'; readonly pick: number; readonly variant: number }
  | { readonly op: 'cleanup'; readonly pick: number; readonly force: boolean }
  | { readonly op: 'lose' }
  | { readonly op: 'reconnect' };

export interface Schedule {
  /** Native calls that stay open until a `native` operation answers them. */
  readonly held: readonly ('prepare' | 'start' | 'close' | 'cancel' | 'submit')[];
  /** A folder is bound: one Session, and Core may suspend it. */
  readonly bound: boolean;
  readonly answeredBy: 'local' | 'core' | 'both';
  readonly policy: 'ask' | 'unattended';
  readonly timeoutMs: number | null;
  readonly operations: readonly Operation[];
}

const pick = fc.nat({ max: 7 });
const variant = fc.nat({ max: 15 });
type Members<K extends Operation['op']> = Omit<Extract<Operation, { op: K }>, 'op'>;

/** An operation of one kind; its members are those of its type. */
const of = <K extends Operation['op']>(
  op: K,
  members: { [M in keyof Members<K>]: fc.Arbitrary<Members<K>[M]> },
): fc.Arbitrary<Operation> => fc.record(members).map((rest) => ({ op, ...rest }) as unknown as Operation);

const times = fc.constantFrom(
  0,
  250,
  1_000,
  4_999,
  5_000,
  9_999,
  10_000,
  10_001,
  15_000,
  30_000,
  60_000,
  299_999,
  300_000,
  3_600_000,
);

const operation = fc.oneof(
  { weight: 9, arbitrary: of('prepare', { session: fc.nat({ max: 5 }), variant, again: fc.boolean() }) },
  { weight: 10, arbitrary: of('start', { pick, variant }) },
  { weight: 3, arbitrary: of('release', { pick, variant }) },
  { weight: 6, arbitrary: of('cancel', { pick, delivery: fc.nat({ max: 3 }) }) },
  { weight: 6, arbitrary: of('steer', { pick, input: fc.nat({ max: 3 }), variant }) },
  { weight: 5, arbitrary: of('decide', { pick, variant }) },
  { weight: 3, arbitrary: of('result', { pick, call: fc.nat({ max: 2 }), variant }) },
  { weight: 2, arbitrary: of('direct', { session: fc.nat({ max: 5 }), variant }) },
  { weight: 2, arbitrary: of('quiesce', { variant }) },
  { weight: 2, arbitrary: of('resume', { variant }) },
  { weight: 1, arbitrary: of('device_shutdown', {}) },
  { weight: 12, arbitrary: of('native', { pick, how: fc.nat({ max: 4 }) }) },
  { weight: 12, arbitrary: of('emit', { pick, which: fc.nat({ max: 7 }) }) },
  { weight: 4, arbitrary: of('done', { pick }) },
  { weight: 6, arbitrary: of('settle', { pick, how: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: of('close_output', { pick }) },
  { weight: 6, arbitrary: of('input', { pick, how: fc.nat({ max: 6 }) }) },
  { weight: 1, arbitrary: of('break', { pick }) },
  { weight: 6, arbitrary: of('advance', { ms: times }) },
  { weight: 1, arbitrary: of('jump', { ms: fc.constantFrom(-3_600_000, 60_000, 86_400_000) }) },
  { weight: 2, arbitrary: of('fail_sends', { count: fc.nat({ max: 2 }) }) },
  { weight: 2, arbitrary: of('block_sends', {}) },
  { weight: 4, arbitrary: of('unblock_sends', {}) },
  { weight: 1, arbitrary: of('backed_up', { on: fc.boolean() }) },
  { weight: 1, arbitrary: of('too_large', {}) },
  { weight: 4, arbitrary: of('answer', { pick, variant }) },
  { weight: 1, arbitrary: of('cleanup', { pick, force: fc.boolean() }) },
  { weight: 1, arbitrary: of('lose', {}) },
  { weight: 2, arbitrary: of('reconnect', {}) },
);

export const schedules: fc.Arbitrary<Schedule> = fc.record({
  held: fc.subarray(['prepare', 'start', 'close', 'cancel', 'submit'] as const),
  bound: fc.constantFrom(false, false, false, true),
  answeredBy: fc.constantFrom('both', 'both', 'both', 'core', 'local'),
  policy: fc.constantFrom('ask', 'ask', 'ask', 'unattended'),
  timeoutMs: fc.constantFrom(null, null, 10_000),
  operations: fc.array(operation, { minLength: 5, maxLength: 60, size: 'max' }),
});
