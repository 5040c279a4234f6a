import * as z from 'zod';

import { isJsonObject } from '../protocol/presence.ts';

/**
 * A wire scenario: one ordered exchange between a Core and a Runtime, as data (wire 17). Each side replays it against a
 * scripted peer. Frames are literal; `matching.ts` says which members are placeholders.
 */

const frame = z.strictObject({
  type: z.string(),
  id: z.string().default(''),
  payload: z.record(z.string(), z.unknown()).default({}),
});
export type ScriptFrame = z.output<typeof frame>;

/** What the Harness does next; only a Runtime whose Harness is under control can be made to. */
export const nativeStep = z.discriminatedUnion('do', [
  /** The next call of this kind stays open until `return`. */
  z.strictObject({ do: z.literal('hold'), what: z.enum(['prepare', 'start', 'close', 'submit']) }),
  /** Every open call of this kind succeeds. */
  z.strictObject({ do: z.literal('return'), what: z.enum(['prepare', 'start', 'close', 'submit']) }),
  /** From now on this kind of call fails; `how` where there is more than one way. `works` ends it. */
  z.strictObject({
    do: z.literal('fail'),
    what: z.enum(['prepare', 'start', 'close', 'cancel', 'submit']),
    how: z.string().optional(),
  }),
  z.strictObject({
    do: z.literal('works'),
    what: z.enum(['prepare', 'start', 'close', 'cancel', 'submit']),
  }),
  /** The Turns of this Harness have no such operation, although it is declared. */
  z.strictObject({
    do: z.literal('lacks'),
    operation: z.enum(['steer', 'submitPermission', 'submitChoice', 'submitFunctionResult']),
  }),
  /** The newest Turn emits this event of the adapter contract. `or_wait`: a Harness of its own may do so by itself. */
  z.strictObject({
    do: z.literal('emit'),
    event: z.looseObject({ type: z.string() }),
    or_wait: z.boolean().optional(),
  }),
  /** What became of the newest active input. */
  z.strictObject({
    do: z.literal('steer'),
    is: z.enum(['written', 'accepted', 'not_ready', 'inactive', 'rejected', 'unsupported', 'unknown']),
  }),
  /** The newest Turn says it is done and settles. `or_cancel`: where that cannot be made, Core cancels this Run. */
  z.strictObject({
    do: z.literal('finish'),
    or_cancel: z.string().optional(),
    outcome: z.record(z.string(), z.unknown()).default({ content: '' }),
  }),
  /** How often the Runtime called the Harness since the scenario began. */
  z.strictObject({
    do: z.literal('expect'),
    prepares: z.number().optional(),
    starts: z.number().optional(),
    cancels: z.number().optional(),
    closes: z.number().optional(),
    inputs: z.number().optional(),
    decisions: z.number().optional(),
    results: z.number().optional(),
  }),
]);
export type NativeStep = z.output<typeof nativeStep>;

/** What the person at Core does; only a Core under control can be made to. */
export const operatorStep = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('submit'), prompt: z.string().default('hello') }),
  z.strictObject({ do: z.literal('cancel') }),
  z.strictObject({ do: z.literal('steer'), text: z.string() }),
  z.strictObject({
    do: z.literal('answer'),
    interaction: z.string(),
    decision: z.record(z.string(), z.unknown()),
  }),
  /** What Core says its last answer came to. */
  z.strictObject({ do: z.literal('answered'), gets: z.record(z.string(), z.unknown()) }),
]);
export type OperatorStep = z.output<typeof operatorStep>;

/** What the person at the laptop answers, and what they are told. */
export const personStep = z.strictObject({
  interaction: z.string(),
  answer: z.record(z.string(), z.unknown()),
  gets: z.string(),
});
export type PersonStep = z.output<typeof personStep>;

/** How Core sees the Turn. */
export const turnCheck = z.strictObject({
  state: z.string().optional(),
  outcome: z.string().optional(),
  code: z.string().nullable().optional(),
  text: z.string().optional(),
  inputs: z.array(z.string()).optional(),
});
export type TurnCheck = z.output<typeof turnCheck>;

export const settlement = z.strictObject({
  outcome: z.record(z.string(), z.unknown()).optional(),
  reusable: z.boolean().default(true),
  failed: z.string().optional(),
});

const dial = z.strictObject({
  /** What the scripted Runtime dials with in turn; `<version>` is the version of this project. */
  with: z.array(
    z.strictObject({
      version: z.string().optional(),
      device: z.string().optional(),
      credential: z.string().nullable().optional(),
    }),
  ),
  refused: z.strictObject({ status: z.number(), error: z.string() }),
  /** A permanent refusal ends the dialing after one attempt; a transient one is tried again. */
  permanent: z.boolean(),
});

const simpleStep = z.union([
  z.strictObject({
    core: frame,
    /** A Core may leave it out. */
    optional: z.boolean().optional(),
  }),
  z.strictObject({ core_text: z.string() }),
  z.strictObject({
    runtime: frame,
    /** The members that count where the Harness is not under control; the others are its own. */
    foreign: z.record(z.string(), z.unknown()).optional(),
    /** Core must not act on it: why. */
    dropped: z.string().optional(),
  }),
  z.strictObject({ runtime_text: z.string() }),
  z.strictObject({ silent: z.enum(['runtime', 'core']) }),
  z.strictObject({ settle: settlement }),
  z.strictObject({ native: nativeStep }),
  z.strictObject({ operator: operatorStep }),
  z.strictObject({ person: personStep }),
  z.strictObject({ turn: turnCheck }),
  /** So many milliseconds pass. */
  z.strictObject({ advance: z.number() }),
  z.strictObject({ drop: z.literal(true) }),
  /** The Runtime closes the socket itself, or Core does. */
  z.strictObject({ closed: z.enum(['runtime', 'core']) }),
  /** The same device is there again and has said what it offers. */
  z.strictObject({ rejoin: z.literal(true) }),
  /** The same device is there again and says nothing before it is spoken to (wire 14). */
  z.strictObject({ reconnect: z.literal(true) }),
  /** Only now it says what it offers. */
  z.strictObject({ heartbeat: z.literal(true) }),
  z.strictObject({ dial }),
]);
export type Step = z.output<typeof simpleStep>;
export type DialStep = z.output<typeof dial>;

type WrittenStep =
  | z.input<typeof simpleStep>
  | { play: string }
  /** `{n}` in the texts of the repeated steps counts from 1. */
  | { repeat: number; steps: WrittenStep[] };
const writtenStep: z.ZodType<WrittenStep> = z.lazy(() =>
  z.union([
    simpleStep,
    z.strictObject({ play: z.string() }),
    z.strictObject({ repeat: z.number().int().positive(), steps: z.array(writtenStep) }),
  ]),
);

export const scenarioFile = z.strictObject({
  title: z.string(),
  /** The rows of the contract that it shows. */
  rows: z.array(z.string()).min(1),
  /** Left out: both. */
  sides: z.array(z.enum(['runtime', 'core'])).default(['runtime', 'core']),
  /**
   * What the Runtime under test must have: names of capabilities that its kind declares, `bound` (a bound folder),
   * `unbound` (Environment type none, so that there may be more than one Session), `seeded` (the folder holds what
   * `scenarioWorkspace` says), `serves FAMILY` and `does not serve FAMILY`.
   */
  requires: z.array(z.string()).default([]),
  /** Cannot be provoked by frames: why. Such a row is listed and never held. */
  unreachable: z.string().optional(),
  setup: z
    .strictObject({
      /** Capabilities the kind does not declare here. */
      without: z.array(z.string()).default([]),
      policy: z.enum(['ask', 'accept_edits', 'unattended']).optional(),
      answered_by: z.enum(['local', 'core', 'both']).optional(),
    })
    .prefault({}),
  steps: z.array(writtenStep).default([]),
});

export interface Scenario extends Omit<z.output<typeof scenarioFile>, 'steps'> {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** @throws Error that names the file and the place, for whoever writes a scenario. */
export function readScenario(name: string, json: unknown, parts: ReadonlyMap<string, unknown>): Scenario {
  const parsed = scenarioFile.safeParse(json);
  if (!parsed.success) throw new Error(`${name}: ${z.prettifyError(parsed.error)}`);
  const { steps, ...rest } = parsed.data;
  return { ...rest, name, steps: expand(name, steps, parts) };
}

function expand(
  name: string,
  steps: readonly WrittenStep[],
  parts: ReadonlyMap<string, unknown>,
): readonly Step[] {
  return steps.flatMap((step): readonly Step[] => {
    if ('play' in step) {
      const part = z.array(writtenStep).safeParse(parts.get(step.play));
      if (!part.success) throw new Error(`${name}: no part ${step.play}`);
      return expand(name, part.data, parts);
    }
    if ('repeat' in step) {
      return Array.from({ length: step.repeat }, (_, index) =>
        expand(name, z.array(writtenStep).parse(numbered(step.steps, String(index + 1))), parts),
      ).flat();
    }
    return [simpleStep.parse(step)];
  });
}

function numbered(value: unknown, n: string): unknown {
  if (typeof value === 'string') return value.replaceAll('{n}', n);
  if (Array.isArray(value)) return value.map((item) => numbered(item, n));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, numbered(member, n)]));
}
