import * as z from 'zod';
import { enrolmentSchema } from './enrolment.ts';
import { historySchema } from './history.ts';

/**
 * What a front end may know: one snapshot, published whole and then again after changes (at most ten a second).
 * `view --json` prints it, the window draws it. Times are ISO 8601 in UTC, what does not apply is null, lists are
 * never absent. It holds no credential, no environment variable and no native handle.
 */
const time = z.iso.datetime();
const nullableTime = time.nullable();

export const runtimeStates = ['starting', 'running', 'paused', 'stopping'] as const;
export const connectionStates = [
  'bootstrapping',
  'dialing',
  'serving',
  'settling',
  'waiting',
  'suspended',
  'parked',
  'stopped',
] as const;
export const turnStates = ['starting', 'running', 'cancelling', 'settling'] as const;
export const turnPhases = ['thinking', 'output', 'tool', 'waiting_for_answer'] as const;
export const evidenceFacts = [
  'prepared',
  'started',
  'input_written',
  'input_accepted',
  'decision_applied',
  'cancel_requested',
  'settled',
  'done_sent',
  'unobserved',
  'not_enforced',
] as const;

/** Machine tags for why a connection is not serving; the window has a sentence for each. */
export const connectionReasonCodes = [
  'network',
  'name_not_found',
  'refused',
  'timeout',
  'tls',
  'proxy_auth',
  'proxy_unreachable',
  'proxy_refused',
  'captive_portal',
  'http_status',
  'not_found',
  'closed_by_core',
  'read_timeout',
  'write_failed',
  'frame_too_large',
  'bad_answer',
  'flapping',
  'incompatible_version',
  'credential_rejected',
  'binding_retired',
  'binding_mismatch',
  'other_key_bound',
  'credential_store_unavailable',
  'credential_missing',
  'cleanup_unconfirmed',
  'woke',
  'network_changed',
  'suspended_by_core',
  'stopped_by_person',
  'workspace_unusable',
] as const;

export const connectionSchema = z.object({
  state: z.enum(connectionStates),
  /** Of the state; while it is looked whether a connection still stands (`woke`, `network_changed`), of that. */
  since: time,
  /** 0 while serving; the number of the attempt under way or next otherwise. */
  attempt: z.number().int().min(0),
  next_attempt_at: nullableTime,
  last_received_at: nullableTime,
  /** One sentence for a person with the remedy, or null while all is well. */
  reason: z.string().nullable(),
  reason_code: z.enum(connectionReasonCodes).nullable(),
  /** Host of Core, for display. */
  host: z.string().nullable(),
  /** When the last working connection was lost. */
  lost_at: nullableTime,
});

export const harnessViewSchema = z.object({
  kind: z.string(),
  /** Display name, for example "Claude Code". */
  name: z.string(),
  available: z.boolean(),
  version: z.string().nullable(),
  /** Why it is unavailable and what to do, or a note (the demo says that it is one). */
  reason: z.string().nullable(),
  capabilities: z.record(z.string(), z.boolean()),
});

export const bindingSchema = z.object({
  name: z.string(),
  local: z.boolean(),
  environment_id: z.string().nullable(),
  session_id: z.string().nullable(),
  workspace: z.string().nullable(),
  connection: connectionSchema,
  harnesses: z.array(harnessViewSchema),
  /** For a binding that was enrolled here; null for the local Core and for one that was handed over for this run. */
  enrolled: z
    .object({
      bound_at: time,
      core_version: z.string().nullable(),
      /** Where its secret lies: keychain, file or memory; null where that is not known. */
      credential_store: z.string().nullable(),
    })
    .nullable(),
});

export const evidenceSchema = z.object({
  at: time,
  fact: z.enum(evidenceFacts),
  by: z.enum(['runtime', 'harness', 'core', 'person']),
  detail: z.string().nullable(),
});

export const usageViewSchema = z.object({
  input_tokens: z.number().nullable(),
  cached_input_tokens: z.number().nullable(),
  output_tokens: z.number().nullable(),
  reasoning_output_tokens: z.number().nullable(),
  total_tokens: z.number().nullable(),
  cost_usd: z.number().nullable(),
  model: z.string().nullable(),
});

export const turnViewSchema = z.object({
  run_id: z.string(),
  session_id: z.string().nullable(),
  binding: z.string(),
  harness: z.string(),
  /** First line of the prompt, cut. */
  title: z.string(),
  state: z.enum(turnStates),
  phase: z.enum(turnPhases).nullable(),
  started_at: time,
  last_output_at: nullableTime,
  usage: usageViewSchema.nullable(),
  evidence: z.array(evidenceSchema),
  /** True when this Turn was started from here (local Core) and may be stopped and steered here. */
  local: z.boolean(),
  can_steer: z.boolean(),
  /** How many journal entries exist; read them with `turn.read`. */
  entries: z.number().int().min(0),
});

export const questionSchema = z.object({
  id: z.string(),
  header: z.string().optional(),
  question: z.string(),
  multi_select: z.boolean().optional(),
  is_other: z.boolean().optional(),
  is_secret: z.boolean().optional(),
  options: z.array(z.object({ label: z.string(), description: z.string().optional() })),
});

export const fileChangeSchema = z.object({
  path: z.string(),
  kind: z.enum(['add', 'delete', 'update']),
  /** Unified diff hunks without file headers; empty when only the new text is known. */
  diff: z.string(),
  inside_workspace: z.boolean().nullable(),
});

/** What exactly is asked, in the form the prompt shows it large. The text is the agent's: foreign matter. */
export const promptSubjectSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('command'), command: z.string(), cwd: z.string().nullable() }),
  z.object({ kind: z.literal('file_change'), changes: z.array(fileChangeSchema) }),
  z.object({
    kind: z.literal('network'),
    host: z.string(),
    port: z.number().nullable(),
    protocol: z.string().nullable(),
  }),
  /** `server` for an MCP tool. `input` is the whole native input. */
  z.object({ kind: z.literal('tool'), name: z.string(), server: z.string().nullable(), input: z.unknown() }),
  z.object({ kind: z.literal('question') }),
]);

export const interactionViewSchema = z.object({
  id: z.string(),
  kind: z.enum(['permission', 'user_choice']),
  binding: z.string(),
  run_id: z.string(),
  harness: z.string(),
  title: z.string(),
  tool: z.string().nullable(),
  detail: z.string().nullable(),
  subject: promptSubjectSchema,
  /** What the agent wrote as its reason, if anything. */
  reason: z.string().nullable(),
  questions: z.array(questionSchema),
  since: time,
  expires_at: nullableTime,
  state: z.enum(['pending', 'deciding']),
  /** False when `answered_by` is `core`: it is shown, and a local answer is refused. */
  answerable: z.boolean(),
  /** What a rule for a Session or a folder would cover; null where none can be made for this request. */
  rule: z.object({ tool: z.string(), match: z.string() }).nullable(),
  /** The input the agent asked with, where it takes another one with an allowance. */
  editable: z.record(z.string(), z.unknown()).nullable(),
});

export const cleanupViewSchema = z.object({
  id: z.string(),
  kind: z.enum(['process', 'executor', 'turn', 'transfer', 'file']),
  /** For a person: which Turn, binding or earlier run left it. */
  owner: z.string(),
  since: time,
  attempts: z.number().int().min(0),
  reason: z.string(),
  state: z.enum(['closing', 'unconfirmed', 'retrying']),
  pid: z.number().int().nullable(),
});

export const transferViewSchema = z.object({
  id: z.string(),
  binding: z.string(),
  kind: z.enum(['read', 'write', 'export', 'prepare']),
  /** Which step of a preparation: `file` `skill` `plugin` `configure` `npm` `python` `setup` `finalize`; else null. */
  step: z.string().nullable(),
  since: time,
  state: z.enum(['receiving', 'applying', 'sending', 'unknown']),
  bytes: z.number(),
  total: z.number().nullable(),
});

export const ruleSchema = z.object({
  id: z.string(),
  binding: z.string(),
  /** Where alone it applies; null: made where there is no folder. */
  folder: z.string().nullable(),
  harness: z.string(),
  tool: z.string(),
  match: z.string(),
  scope: z.enum(['turn', 'session', 'folder']),
  created_at: time,
  expires_at: nullableTime,
  used: z.number().int().min(0),
  last_used_at: nullableTime,
});

export const healthSchema = z.object({
  code: z.string(),
  severity: z.enum(['info', 'warning', 'error']),
  since: time,
  text: z.string(),
  next: z.string(),
});

export const viewSchema = z.object({
  /** Rises with every published snapshot of one daemon process. */
  revision: z.number().int(),
  runtime: z.object({
    state: z.enum(runtimeStates),
    version: z.string(),
    wire_version: z.string(),
    started_at: time,
  }),
  bindings: z.array(bindingSchema),
  turns: z.array(turnViewSchema),
  interactions: z.array(interactionViewSchema),
  cleanup: z.array(cleanupViewSchema),
  transfers: z.array(transferViewSchema),
  history: z.array(historySchema),
  rules: z.array(ruleSchema),
  /** Enrolments that somebody began and nobody closed yet. */
  enrolments: z.array(enrolmentSchema),
  /** A link brought an invitation that nobody has read yet; `host` as the link names it, null where it is none. */
  invited: z.object({ host: z.string().nullable() }).nullable(),
  /** A newer version of the app, where it can replace itself; `off` where it cannot or no feed is named. */
  update: z.object({
    state: z.enum(['off', 'current', 'looking', 'available', 'downloading', 'ready']),
    version: z.string().nullable(),
    percent: z.number().int().nullable(),
    /** The last look or download came to nothing. */
    failed: z.boolean(),
    checked_at: nullableTime,
  }),
  /** Where secrets are kept now: keychain, file or memory; null while no store answers. */
  credential_store: z.string().nullable(),
  health: z.array(healthSchema),
  /** Frames dropped without a reply, by reason (runtime-behaviour 2.23). */
  drops: z.record(z.string(), z.number().int()),
});

export type View = z.infer<typeof viewSchema>;
export type ConnectionView = z.infer<typeof connectionSchema>;
export type ConnectionReasonCode = (typeof connectionReasonCodes)[number];
export type HarnessView = z.infer<typeof harnessViewSchema>;
export type BindingView = z.infer<typeof bindingSchema>;
export type TurnView = z.infer<typeof turnViewSchema>;
export type Evidence = z.infer<typeof evidenceSchema>;
export type UsageView = z.infer<typeof usageViewSchema>;
export type Question = z.infer<typeof questionSchema>;
export type FileChange = z.infer<typeof fileChangeSchema>;
export type PromptSubject = z.infer<typeof promptSubjectSchema>;
export type InteractionView = z.infer<typeof interactionViewSchema>;
export type CleanupView = z.infer<typeof cleanupViewSchema>;
export type TransferView = z.infer<typeof transferViewSchema>;
export type Rule = z.infer<typeof ruleSchema>;
export type HealthItem = z.infer<typeof healthSchema>;
