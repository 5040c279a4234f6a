import * as z from 'zod';

export const historyOutcomes = [
  'completed',
  'failed',
  'cancelled',
  'unknown',
  'allowed',
  'denied',
  'answered',
  'withdrawn',
  'expired',
  'confirmed',
  'forced',
  'saved',
  'removed',
] as const;

/** One line of what happened, on disk and in the view. */
export const historySchema = z.object({
  kind: z.enum(['turn', 'permission', 'user_choice', 'cleanup', 'rule']),
  id: z.string(),
  run_id: z.string().nullable(),
  binding: z.string().nullable(),
  harness: z.string().nullable(),
  title: z.string(),
  at: z.iso.datetime(),
  outcome: z.enum(historyOutcomes),
  decided_by: z.enum(['person', 'core', 'rule', 'policy', 'harness']).nullable(),
  /** A sentence for a person: why it failed, what stayed unknown, what was told to whom. */
  detail: z.string().nullable(),
});
export type HistoryEntry = z.infer<typeof historySchema>;
