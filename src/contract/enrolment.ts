import * as z from 'zod';

/**
 * An enrolment as a front end sees it: what would be bound, to whom, where, and how far it is. Neither the grant nor
 * the secret is part of it.
 */
export const enrolmentStates = ['review', 'working', 'connecting', 'bound', 'failed'] as const;
export const enrolmentSteps = ['folder', 'store', 'claim', 'enroll', 'receipt'] as const;

export const boundFolderSchema = z.object({
  /** As the Session or the person named it. */
  asked: z.string(),
  /** With every link resolved. */
  path: z.string(),
  exists: z.boolean(),
  writable: z.boolean(),
  free_bytes: z.number().nullable(),
  /** Why it cannot be bound, for a person; null where it can. */
  refusal: z.string().nullable(),
  /** Other bindings that would change the same files. A warning, no refusal. */
  overlaps: z.array(z.object({ binding: z.string(), how: z.enum(['same', 'inside', 'contains']) })),
});

export const enrolmentSchema = z.object({
  id: z.string(),
  /** With an invitation of Core, or with a credential file of whoever runs it. */
  way: z.enum(['grant', 'credential']),
  state: z.enum(enrolmentStates),
  /** The step under way, or the one that failed. */
  step: z.enum(enrolmentSteps).nullable(),
  host: z.string(),
  /** False where Core is on this machine and is spoken to in plain text. */
  encrypted: z.boolean(),
  environment_id: z.string(),
  /** Build of Core, as it says. */
  core_version: z.string().nullable(),
  /** Kind of agent that the Session names, where it names one. */
  harness: z.string().nullable(),
  /** End of the invitation. */
  expires_at: z.iso.datetime().nullable(),
  /** A name that is free, until the person gives another. */
  name: z.string(),
  /** True: the Session names the folder, and no other can be bound. */
  folder_frozen: z.boolean(),
  /** Null until one is named. */
  folder: boundFolderSchema.nullable(),
  /** Where its secret would be kept: keychain or file; null while no lasting store answers. */
  credential_store: z.string().nullable(),
  /** Whether Core sees the key connected; null while nobody asked. */
  connected: z.boolean().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});
export type EnrolmentView = z.infer<typeof enrolmentSchema>;

/** What a binding may be called on this machine. */
export const isBindingName = (text: string): boolean =>
  /^[a-zA-Z0-9._-]{1,64}$/.test(text) && !/^\.{1,2}$/.test(text) && text !== 'local';

const shortText = z.string().min(1).max(4_096);

/** What an enrolment starts from. The texts hold secrets: they go one way only. */
export const enrolmentSourceSchema = z.discriminatedUnion('kind', [
  /** A pasted install command, a link, or the text of a file that holds one. */
  z.strictObject({ kind: z.literal('invitation'), text: z.string().min(1).max(65_536) }),
  /** The invitation that a link brought (`invited` of the view). It stays in the daemon. */
  z.strictObject({ kind: z.literal('arrived') }),
  /** Endpoint and grant apart. */
  z.strictObject({ kind: z.literal('grant'), endpoint: shortText, grant: z.string().min(1).max(65_536) }),
  /** The text of a credential file, and what goes with it. */
  z.strictObject({
    kind: z.literal('credential'),
    credential: z.string().min(1).max(65_536),
    remote_url: shortText,
    environment_id: shortText,
  }),
]);
export type EnrolmentSource = z.infer<typeof enrolmentSourceSchema>;
