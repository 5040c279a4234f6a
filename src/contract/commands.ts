import * as z from 'zod';
import { checkSchema, diagnosticsSchema } from './diagnostics.ts';
import { enrolmentSchema, enrolmentSourceSchema } from './enrolment.ts';
import { journalEntrySchema } from './journal.ts';
import { historyOutcomes, historySchema } from './history.ts';
import { settingsSchema } from './settings.ts';
import { viewSchema, type View } from './view.ts';

/**
 * What a front end may ask for. The window, the browser console and the terminal send the same commands; each is
 * parsed again where it crosses a process border, and so is its answer. Adding an action means one entry here and
 * one handler in `src/app/commands.ts`.
 */
const empty = z.strictObject({});
const done = z.object({});

export const answerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('allow'),
    /** Anything but `once` saves a rule for exactly this request (`interactions[].rule` shows what it covers). */
    scope: z.enum(['once', 'turn', 'session', 'folder']).default('once'),
    /** How long a rule of the folder lasts; null has no end, left out is a week. */
    days: z.number().int().min(1).max(365).nullable().optional(),
    /** Another input than the agent asked with; only `once`, and only where the view gives an `editable` one. */
    input: z.record(z.string(), z.unknown()).optional(),
  }),
  z.strictObject({ kind: z.literal('deny'), message: z.string().max(4_000).optional() }),
  /** Question id to chosen labels or free text. An omitted question stays unanswered, `[]` is an explicit non-answer. */
  z.strictObject({
    kind: z.literal('answers'),
    answers: z.record(z.string(), z.array(z.string().max(20_000))),
  }),
  z.strictObject({ kind: z.literal('cancel') }),
]);
export type Answer = z.infer<typeof answerSchema>;

export const turnSummarySchema = z.object({
  run_id: z.string(),
  session_id: z.string().nullable(),
  harness: z.string(),
  state: z.enum(['queued', 'starting', 'running', 'cancelling', 'settling', 'ended']),
  started_at: z.iso.datetime(),
  outcome: z.enum(['completed', 'failed', 'cancelled', 'unknown']).nullable(),
});

const id = z.string().min(1).max(512);

/** name -> { request, answer }. The only list of commands. */
export const commands = {
  'view.get': { request: empty, answer: viewSchema },
  /** Journal entries after cursor `after` (exclusive; -1 for all), at most `limit`, at most about 1 MiB. */
  'turn.read': {
    request: z.strictObject({
      run_id: id,
      after: z.number().int().min(-1),
      limit: z.number().int().min(1).max(2_000).default(500),
    }),
    answer: z.object({
      run_id: z.string(),
      entries: z.array(journalEntrySchema),
      /** Entries that exist; when the last one returned is older, ask again. */
      total: z.number().int(),
      ended: z.boolean(),
    }),
  },
  /** Starts a Turn through the local Core. A new Session unless `session_id` names an idle one. */
  'turn.start': {
    request: z.strictObject({
      prompt: z.string().min(1).max(500_000),
      harness: id.optional(),
      session_id: id.optional(),
    }),
    answer: z.object({ run_id: z.string(), session_id: z.string() }),
  },
  /** All of the history that is kept, oldest first; the view holds its end. */
  'history.read': { request: empty, answer: z.object({ entries: z.array(historySchema) }) },
  'turn.cancel': { request: z.strictObject({ run_id: id }), answer: done },
  /** Active input for a running local Turn. The receipt arrives in the journal, never here. */
  'turn.steer': {
    request: z.strictObject({ run_id: id, text: z.string().min(1).max(500_000) }),
    answer: z.object({ input_id: z.string() }),
  },
  'turn.list': { request: empty, answer: z.object({ turns: z.array(turnSummarySchema) }) },
  'turn.show': {
    request: z.strictObject({ run_id: id }),
    answer: turnSummarySchema.extend({
      prompt: z.string(),
      text: z.string(),
      /** Why it ended as it did, for a person; null where nobody said. */
      detail: z.string().nullable(),
      evidence: viewSchema.shape.turns.element.shape.evidence,
      usage: viewSchema.shape.turns.element.shape.usage,
    }),
  },
  /** Gives an answer. Resolves when the Harness applied it; `outcome` is what was recorded. */
  'interaction.answer': {
    request: z.strictObject({ id, answer: answerSchema }),
    answer: z.object({ outcome: z.enum(historyOutcomes) }),
  },
  /** Stops a step of a preparation that Core asked for; Core is told that it did not complete. */
  'transfer.stop': { request: z.strictObject({ id }), answer: done },
  'rule.remove': { request: z.strictObject({ id }), answer: done },
  'rule.remove_all': { request: empty, answer: z.object({ removed: z.number().int() }) },
  'runtime.pause': { request: empty, answer: done },
  'runtime.resume': { request: empty, answer: done },
  /** `after_turns`: pause, wait until open Turns ended, then stop serving. `now`: cancel them first. */
  'runtime.stop': { request: z.strictObject({ mode: z.enum(['after_turns', 'now']) }), answer: done },
  'runtime.start': { request: empty, answer: done },
  'connection.retry': { request: z.strictObject({ binding: id }), answer: done },
  /** Looks for a newer version of the app; the view says what came of it. */
  'update.look': { request: empty, answer: done },
  'update.download': { request: empty, answer: done },
  /** Ends the app as a quit does and starts the new version; refused during a Turn or an open cleanup. */
  'update.install': { request: empty, answer: done },
  'cleanup.retry': { request: z.strictObject({ id }), answer: z.object({ confirmed: z.boolean() }) },
  /** Ends the resource by force where possible and records that its end was not proven. */
  'cleanup.force': { request: z.strictObject({ id }), answer: done },
  'doctor.run': { request: empty, answer: z.object({ checks: z.array(checkSchema) }) },
  /** Everything a fault can be understood by, without secrets or payloads. */
  'diagnostics.collect': { request: empty, answer: diagnosticsSchema },
  'logs.tail': {
    request: z.strictObject({ lines: z.number().int().min(1).max(5_000).default(100) }),
    answer: z.object({ lines: z.array(z.string()) }),
  },
  'settings.get': { request: empty, answer: settingsSchema },
  'settings.set': { request: settingsSchema.partial().strict(), answer: settingsSchema },
  /** Keeps the password of the proxy in the credential store; an empty one forgets it. It is never given back. */
  'proxy.password': { request: z.strictObject({ password: z.string().max(1_024) }), answer: done },
  /** What to do while the credential store is unavailable. `memory` keeps secrets for this run only. */
  'credentials.choose': {
    request: z.strictObject({ choice: z.enum(['retry', 'memory', 'file']) }),
    answer: done,
  },
  /** Reads an invitation (asking Core what it is for) or a credential file. Stores nothing and changes nothing. */
  'enrol.read': {
    request: z.strictObject({
      source: enrolmentSourceSchema,
      workspace: z.string().max(4_096).optional(),
      name: z.string().max(64).optional(),
    }),
    answer: enrolmentSchema,
  },
  /** Names the folder, or looks at it again. */
  'enrol.folder': {
    request: z.strictObject({ id, path: z.string().min(1).max(4_096) }),
    answer: enrolmentSchema,
  },
  /** Binds. Resolves when it is bound and Core was asked, or when a step failed (`error` says why; repeat to go on). */
  'enrol.confirm': {
    request: z.strictObject({ id, name: z.string().min(1).max(64) }),
    answer: enrolmentSchema,
  },
  /** Forgets the invitation that a link brought. */
  'enrol.ignore': { request: empty, answer: done },
  /** Closes an enrolment. What is bound stays bound. */
  'enrol.close': { request: z.strictObject({ id }), answer: done },
  /** Puts a rotated credential in the place of the old one; `credential` is the text of the new file. */
  'binding.rotate': {
    request: z.strictObject({ binding: id, credential: z.string().min(1).max(65_536) }),
    answer: done,
  },
  /**
   * Ends a binding on this machine: its connection, its credential and its receipt. Folder and history stay.
   * `leave_credential`: also where the store does not answer, whose entry then stays behind.
   */
  'binding.remove': {
    request: z.strictObject({ binding: id, leave_credential: z.boolean().default(false) }),
    answer: done,
  },
} as const;

export type CommandName = keyof typeof commands;
/** As a caller writes it (defaults may be left out). */
export type CommandRequest<N extends CommandName> = z.input<(typeof commands)[N]['request']>;
/** As a handler reads it (defaults filled in). */
export type CommandInput<N extends CommandName> = z.output<(typeof commands)[N]['request']>;
export type CommandAnswer<N extends CommandName> = z.output<(typeof commands)[N]['answer']>;
export const commandNames = Object.keys(commands) as readonly CommandName[];
export const isCommandName = (name: string): name is CommandName => Object.hasOwn(commands, name);

/** How a failure crosses a process border: never a stack, a path or a secret. */
export const commandErrorSchema = z.object({ code: z.string(), message: z.string() });
export type CommandError = z.infer<typeof commandErrorSchema>;
export const commandResultSchema = z.union([
  z.object({ ok: z.literal(true), answer: z.unknown() }),
  z.object({ ok: z.literal(false), error: commandErrorSchema }),
]);
export type CommandResult = z.infer<typeof commandResultSchema>;

/** The daemon as a front end sees it, whatever pipe is between them. */
export interface FrontEnd {
  call<N extends CommandName>(name: N, request: CommandRequest<N>): Promise<CommandAnswer<N>>;
  /** Calls `listener` with each published view, the current one first. Returns the unsubscriber. */
  onView(listener: (view: View) => void): () => void;
}
