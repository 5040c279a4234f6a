import * as z from 'zod';
import {
  cleanupViewSchema,
  connectionSchema,
  harnessViewSchema,
  healthSchema,
  runtimeStates,
} from './view.ts';

/** One finding of `doctor`. */
export const checkSchema = z.object({
  name: z.string(),
  /** False: it stops something. */
  ok: z.boolean(),
  /** Left out: as `ok` says. `warn` works, and deserves a look. */
  level: z.enum(['ok', 'warn', 'fail']).optional(),
  text: z.string(),
  next: z.string().nullable(),
});

/**
 * What a person may hand to somebody else so that a fault can be understood: facts about this app and this machine,
 * and nothing that was asked, answered or read. No secret, no prompt, no title, no output, no environment variable; a
 * path is cut to its last component.
 */
export const diagnosticsSchema = z.object({
  format: z.literal(1),
  collected_at: z.iso.datetime(),
  app: z.object({ version: z.string(), wire_version: z.string() }),
  platform: z.object({
    os: z.string(),
    os_release: z.string(),
    arch: z.string(),
    node: z.string(),
    electron: z.string().nullable(),
  }),
  /** Null: no Runtime ran, and what only a running one knows is empty. */
  runtime: z.object({ state: z.enum(runtimeStates), started_at: z.iso.datetime() }).nullable(),
  bindings: z.array(
    z.object({
      name: z.string(),
      local: z.boolean(),
      environment_id: z.string().nullable(),
      session_id: z.string().nullable(),
      /** Last component of the folder's path. */
      workspace: z.string().nullable(),
      connection: connectionSchema,
      /** Kinds offered there. */
      harnesses: z.array(z.string()),
    }),
  ),
  harnesses: z.array(harnessViewSchema),
  /** How much there is of what is not told: `turns.running`, `history.turn.completed` and the like. */
  counts: z.record(z.string(), z.number().int()),
  /** Frames dropped without a reply, by reason (runtime-behaviour 2.23). */
  drops: z.record(z.string(), z.number().int()),
  health: z.array(healthSchema),
  checks: z.array(checkSchema),
  /** `owner` is the purpose of a process; for anything else it would name a Turn and is null. */
  cleanup: z.array(cleanupViewSchema.extend({ owner: z.string().nullable() })),
  /** The newest lines, oldest first, with every known secret masked. */
  log: z.array(z.string()),
  /** Files of the state folder, by their name in it. Bytes. */
  files: z.array(z.object({ name: z.string(), bytes: z.number().int() })),
});
export type Diagnostics = z.infer<typeof diagnosticsSchema>;
