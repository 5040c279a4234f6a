import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { isLoopback } from '../enrol/addresses.ts';
import { rejected } from '../observe/errors.ts';
import { codeOf } from '../store/atomic-file.ts';

function cannotBeReplacedOnTheWay(address: string): boolean {
  try {
    const { protocol, hostname } = new URL(address);
    return protocol === 'https:' || isLoopback(hostname);
  } catch {
    return false;
  }
}

/** `config.json` or `--config FILE`. Unknown members are refused with the place named; absent means the default. */
const harnessSchema = z.strictObject({
  kind: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'a kind is lower-case letters, digits, - and _'),
  adapter: z.enum(['claude-code', 'codex', 'acp', 'demo']),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string().min(1), z.string()).optional(),
  steering: z.enum(['unsupported', 'cancel_and_continue']).optional(),
});

export const configSchema = z.strictObject({
  harnesses: z.array(harnessSchema).optional(),
  interactions: z
    .strictObject({
      policy: z.enum(['ask', 'accept_edits', 'unattended']).default('ask'),
      answered_by: z.enum(['local', 'core', 'both']).default('both'),
      timeout_seconds: z.number().int().min(1).max(86_400).optional(),
    })
    .prefault({}),
  limits: z
    .strictObject({ executor_idle_seconds: z.number().int().min(1).max(86_400).default(3_600) })
    .prefault({}),
  /**
   * Folder that `latest*.yml` and the packages of newer versions lie in; without it the one the package names. Over
   * https, or http on this machine: the list and the packages come the same way, and nothing else vouches for them.
   */
  updates: z
    .strictObject({ feed: z.url({ protocol: /^https?$/ }).refine(cannotBeReplacedOnTheWay) })
    .optional(),
});
export type Config = z.output<typeof configSchema>;
export type HarnessConfig = z.output<typeof harnessSchema>;

export const defaultConfig: Config = {
  interactions: { policy: 'ask', answered_by: 'both' },
  limits: { executor_idle_seconds: 3_600 },
};

const remedy = 'Correct it, or move it away to go on with the defaults.';

/** @throws RuntimeError `invalid_configuration` that names the file and the place, never a value. */
export async function loadConfig(path: string, required: boolean): Promise<Config> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && !required) return defaultConfig;
    throw rejected(
      'invalid_configuration',
      `The configuration ${path} could not be read. Check that it is a file and that you may read it.`,
      error,
    );
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw rejected('invalid_configuration', `The configuration ${path} is not JSON. ${remedy}`, error);
  }
  const parsed = configSchema.safeParse(json);
  if (!parsed.success) {
    throw rejected(
      'invalid_configuration',
      `The configuration ${path} is not valid: ${firstFault(parsed.error)}. ${remedy}`,
    );
  }
  const kinds = (parsed.data.harnesses ?? []).map((harness) => harness.kind);
  const repeated = kinds.find((kind, index) => kinds.indexOf(kind) !== index);
  if (repeated !== undefined) {
    throw rejected(
      'invalid_configuration',
      `The configuration ${path} names the kind ${repeated} twice. ${remedy}`,
    );
  }
  const acp =
    parsed.data.harnesses?.findIndex((harness) => harness.adapter === 'acp' && !harness.command) ?? -1;
  if (acp >= 0) {
    throw rejected(
      'invalid_configuration',
      `The configuration ${path} is not valid: harnesses[${acp}] needs a command. ${remedy}`,
    );
  }
  return parsed.data;
}

/** Where a document breaks its schema, in words that repeat no value of it. */
export function firstFault(error: z.ZodError): string {
  const issue = error.issues[0];
  if (!issue) return 'it breaks its schema';
  const place = issue.path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('');
  const where = place.replace(/^\./, '') || 'the document';
  if (issue.code === 'unrecognized_keys') return `${where} has an unknown member (${issue.keys.join(', ')})`;
  if (issue.code === 'invalid_type') return `${where} must be ${issue.expected}`;
  return `${where} is not allowed`;
}
