import * as z from 'zod';

/**
 * What a Turn printed, as an append-only list a front end reads from a cursor (`turn.read`), so that no history is
 * sent twice: entry `n` never changes. Adjacent text of one message is merged before an entry is sealed.
 */
const base = { n: z.number().int().min(0), at: z.iso.datetime() };

export const journalEntrySchema = z.discriminatedUnion('kind', [
  /** Input from a person or Core. `state` follows in `input_state`. */
  z.object({
    ...base,
    kind: z.literal('input'),
    input_id: z.string(),
    text: z.string(),
    by: z.enum(['person', 'core']),
  }),
  z.object({
    ...base,
    kind: z.literal('input_state'),
    input_id: z.string(),
    state: z.enum(['written', 'accepted', 'rejected', 'unknown']),
    detail: z.string().nullable(),
  }),
  z.object({ ...base, kind: z.literal('text'), message_id: z.string().nullable(), text: z.string() }),
  /** The complete text of a message, which replaces what its fragments built. */
  z.object({
    ...base,
    kind: z.literal('message'),
    message_id: z.string(),
    text: z.string(),
    phase: z.string().nullable(),
  }),
  z.object({ ...base, kind: z.literal('thinking'), text: z.string() }),
  z.object({
    ...base,
    kind: z.literal('tool_start'),
    call_id: z.string(),
    name: z.string(),
    /** One line: the command, the file, the query. */
    summary: z.string(),
    input: z.unknown(),
  }),
  z.object({ ...base, kind: z.literal('tool_output'), call_id: z.string(), text: z.string() }),
  z.object({
    ...base,
    kind: z.literal('tool_end'),
    call_id: z.string(),
    status: z.enum(['completed', 'failed', 'incomplete']),
    output: z.string().nullable(),
    exit_code: z.number().nullable(),
    duration_ms: z.number().nullable(),
  }),
  z.object({ ...base, kind: z.literal('prompt'), interaction_id: z.string(), title: z.string() }),
  z.object({ ...base, kind: z.literal('prompt_end'), interaction_id: z.string(), text: z.string() }),
  z.object({ ...base, kind: z.literal('error'), code: z.string().nullable(), text: z.string() }),
  z.object({ ...base, kind: z.literal('notice'), text: z.string() }),
  z.object({
    ...base,
    kind: z.literal('end'),
    outcome: z.enum(['completed', 'failed', 'cancelled', 'unknown']),
    text: z.string(),
  }),
]);
export type JournalEntry = z.infer<typeof journalEntrySchema>;
