import * as z from 'zod';

import { base64ByteLength } from './base64.ts';
import {
  capabilitySources,
  capabilitySourcesViolation,
  sourceMetadata,
  sourceMetadataViolation,
  type CapabilitySources,
  type SourceMetadata,
} from './capability-sources.ts';
import { isCanonicalUuid, isLogicalPath, isSha256Text } from './ids.ts';
import {
  INITIALIZATION_ENV_ENTRIES,
  INITIALIZATION_PACKAGES,
  PLUGIN_SLOTS,
  RUNTIME_PREPARE_BODY_BYTES,
  RUNTIME_PREPARE_BUDGET_MS,
  TRANSFER_CHUNK_BYTES,
} from './limits.ts';
import {
  expected,
  given,
  integer,
  list,
  oneOf,
  optional,
  optionalOneOf,
  required,
  text,
} from './presence.ts';
import { hasLoneSurrogate } from './utf8.ts';
import { violation, type Violation } from './violation.ts';
import { base64Text } from './transfer.ts';

/** `runtime_prepare` and its result (wire 13): one transfer per connection that prepares the Environment. */

export const runtimePrepareActions = ['skill', 'plugin', 'file', 'initialize', 'finalize'] as const;
export type RuntimePrepareAction = (typeof runtimePrepareActions)[number];

const initializationShape = z.strictObject({
  action: expected(text),
  env: optional(z.record(z.string(), text)),
  packages: optional(list(text)),
  command: optional(text),
  cwd: optional(text),
  /** Of an older generation; accepted and without effect. */
  network: optional(text),
});

export type Initialization =
  | { action: 'configure'; env: Record<string, string> }
  | { action: 'npm' | 'python'; packages: string[] }
  | { action: 'setup'; command: string; cwd: string };

export type RuntimePrepareBegin = {
  step: 'begin';
  environment_id: string;
  session_id: string;
  size_bytes: number;
  /** Empty where there is no body. */
  sha256: string;
  /** Undefined where the sender set none. */
  budget_ms?: number | undefined;
} & (
  | { action: 'skill'; skill: SourceMetadata }
  | { action: 'plugin'; plugin: SourceMetadata; slot: number }
  | { action: 'file'; file: { path: string } }
  | { action: 'initialize'; initialization: Initialization }
  | { action: 'finalize'; sources: CapabilitySources }
);

export type RuntimePreparePayload =
  RuntimePrepareBegin | { step: 'chunk'; offset: number; data: string } | { step: 'commit' };

const runtimePrepareShape = z.strictObject({
  step: required(oneOf(['begin', 'chunk', 'commit'])),
  environment_id: optional(text),
  session_id: optional(text),
  action: optional(text),
  slot: optional(integer),
  skill: given(sourceMetadata),
  plugin: given(sourceMetadata),
  file: given(z.strictObject({ path: expected(text) })),
  initialization: given(initializationShape),
  sources: given(capabilitySources),
  size_bytes: optional(integer),
  sha256: optional(text),
  budget_ms: optional(integer),
  offset: optional(integer),
  data: optional(base64Text),
});
type Shape = z.output<typeof runtimePrepareShape>;

/** Core to Runtime; id = transfer id, a canonical UUID. */
export const runtimePreparePayload = runtimePrepareShape.transform(
  (frame, context): RuntimePreparePayload => {
    const result = narrow(frame);
    if (!('path' in result)) return result;
    context.addIssue({ code: 'custom', message: 'invalid runtime preparation', path: [...result.path] });
    return z.NEVER;
  },
);

/** `step` distinguishes a payload; a violation has a `path` and no step. */
function narrow(frame: Shape): RuntimePreparePayload | Violation {
  if (frame.step === 'begin') return narrowBegin(frame);
  const foreign = (
    [
      'environment_id',
      'session_id',
      'action',
      'slot',
      'skill',
      'plugin',
      'file',
      'initialization',
      'sources',
      'size_bytes',
      'sha256',
      'budget_ms',
    ] as const
  ).find((member) => frame[member] !== undefined && frame[member] !== '' && frame[member] !== 0);
  if (foreign) return violation([foreign]);
  const { offset = 0, data = '' } = frame;
  if (frame.step === 'commit')
    return offset !== 0 ? violation(['offset']) : data !== '' ? violation(['data']) : { step: 'commit' };
  const bytes = base64ByteLength(data);
  if (offset < 0 || offset > RUNTIME_PREPARE_BODY_BYTES) return violation(['offset']);
  if (bytes < 1 || bytes > TRANSFER_CHUNK_BYTES || offset + bytes > RUNTIME_PREPARE_BODY_BYTES)
    return violation(['data']);
  return { step: 'chunk', offset, data };
}

const bodyMembers = ['skill', 'plugin', 'file', 'initialization', 'sources'] as const;
const memberOfAction: Record<RuntimePrepareAction, (typeof bodyMembers)[number]> = {
  skill: 'skill',
  plugin: 'plugin',
  file: 'file',
  initialize: 'initialization',
  finalize: 'sources',
};
const isAction = (action: string): action is RuntimePrepareAction =>
  runtimePrepareActions.some((known) => known === action);

function narrowBegin(frame: Shape): RuntimePrepareBegin | Violation {
  const {
    environment_id = '',
    session_id = '',
    action = '',
    size_bytes = 0,
    sha256 = '',
    slot = 0,
    budget_ms,
  } = frame;
  if (!isCanonicalUuid(environment_id)) return violation(['environment_id']);
  if (!isCanonicalUuid(session_id)) return violation(['session_id']);
  if (!isAction(action)) return violation(['action']);
  if (frame.offset) return violation(['offset']);
  if (frame.data) return violation(['data']);
  if (budget_ms && (budget_ms < 1 || budget_ms > RUNTIME_PREPARE_BUDGET_MS)) return violation(['budget_ms']);
  if (slot < 0 || slot >= PLUGIN_SLOTS || (slot !== 0 && action !== 'plugin')) return violation(['slot']);
  const foreign = bodyMembers.find(
    (member) => frame[member] !== undefined && member !== memberOfAction[action],
  );
  if (foreign) return violation([foreign]);
  const least = action === 'skill' || action === 'plugin' ? 1 : 0;
  const most = action === 'initialize' || action === 'finalize' ? 0 : RUNTIME_PREPARE_BODY_BYTES;
  if (size_bytes < least || size_bytes > most) return violation(['size_bytes']);
  if (most === 0 ? sha256 !== '' : !isSha256Text(sha256)) return violation(['sha256']);
  const begin = {
    step: 'begin',
    environment_id,
    session_id,
    size_bytes,
    sha256,
    budget_ms: budget_ms || undefined,
  } as const;
  switch (action) {
    case 'skill':
    case 'plugin': {
      const metadata = frame[action];
      if (!metadata) return violation([action]);
      const found = sourceMetadataViolation(metadata);
      if (found) return violation([action, ...found.path]);
      return action === 'skill'
        ? { ...begin, action, skill: metadata }
        : { ...begin, action, plugin: metadata, slot };
    }
    case 'file':
      if (!frame.file || !isLogicalPath(frame.file.path, { rootAllowed: false }))
        return violation(['file', 'path']);
      return { ...begin, action, file: frame.file };
    case 'initialize': {
      if (!frame.initialization) return violation(['initialization']);
      const initialization = narrowInitialization(frame.initialization);
      if ('path' in initialization) return violation(['initialization', ...initialization.path]);
      return { ...begin, action, initialization };
    }
    case 'finalize': {
      if (!frame.sources) return violation(['sources']);
      const found = capabilitySourcesViolation(frame.sources);
      return found ? violation(['sources', ...found.path]) : { ...begin, action, sources: frame.sources };
    }
  }
}

const BREAK_OR_NUL = /[\0\r\n]/;
const isEnvName = (name: string): boolean =>
  name !== '' && !hasLoneSurrogate(name) && !/[=\0\r\n]/.test(name);
const isEnvValue = (value: string): boolean => !hasLoneSurrogate(value) && !value.includes('\0');
const isPackage = (name: string): boolean =>
  name !== '' && !hasLoneSurrogate(name) && !name.startsWith('-') && !BREAK_OR_NUL.test(name);

function narrowInitialization(part: z.output<typeof initializationShape>): Initialization | Violation {
  const { action, env = {}, packages = [], command = '', cwd = '', network = '' } = part;
  const entries = Object.entries(env);
  if (network !== '' && network !== 'enabled' && network !== 'disabled') return violation(['network']);
  if (action !== 'configure' && entries.length > 0) return violation(['env']);
  if (action !== 'npm' && action !== 'python' && packages.length > 0) return violation(['packages']);
  if (action !== 'setup' && command !== '') return violation(['command']);
  if (action !== 'setup' && cwd !== '') return violation(['cwd']);
  switch (action) {
    case 'configure': {
      if (entries.length > INITIALIZATION_ENV_ENTRIES || network !== '') return violation(['env']);
      return entries.every(([name, value]) => isEnvName(name) && isEnvValue(value))
        ? { action, env }
        : violation(['env']);
    }
    case 'npm':
    case 'python': {
      const countable = packages.length >= 1 && packages.length <= INITIALIZATION_PACKAGES;
      return countable && packages.every(isPackage) ? { action, packages } : violation(['packages']);
    }
    case 'setup':
      if (command === '' || hasLoneSurrogate(command) || command.includes('\0'))
        return violation(['command']);
      if (cwd !== '' && !isLogicalPath(cwd, { rootAllowed: true })) return violation(['cwd']);
      return { action, command, cwd };
    default:
      return violation(['action']);
  }
}

export const runtimePrepareOutcomes = [
  'ready',
  'received',
  'completed',
  'rejected',
  'failed',
  'unknown',
] as const;
export const runtimePrepareRejectionCodes = [
  'invalid_request',
  'resource_unavailable',
  'runtime_preparation_capacity',
  'runtime_preparation_unsupported',
  'runtime_preparation_rejected',
] as const;
export type RuntimePrepareRejectionCode = (typeof runtimePrepareRejectionCodes)[number];
export const runtimePrepareCodes = [
  ...runtimePrepareRejectionCodes,
  'runtime_preparation_failed',
  'runtime_preparation_unconfirmed',
] as const;

/** `runtime_prepare_result`, Runtime to Core; id = transfer id. An unknown effect is never reported as a rejection. */
export const runtimePrepareResultPayload = z
  .object({
    outcome: required(oneOf(runtimePrepareOutcomes)),
    /** `received`: bytes staged. */
    offset: optional(integer),
    /** `completed`: the declared size. */
    size_bytes: optional(integer),
    error_code: optionalOneOf(runtimePrepareCodes),
    /** 0 to 255; not 0 only with `failed`. */
    exit_code: optional(integer),
  })
  .superRefine((result, context) => {
    const path = resultFault(result);
    if (path) context.addIssue({ code: 'custom', message: 'inconsistent result', path: [path] });
  });
export type RuntimePrepareResultPayload = z.output<typeof runtimePrepareResultPayload>;

function resultFault(result: {
  outcome: string;
  offset?: number | undefined;
  size_bytes?: number | undefined;
  error_code?: string | undefined;
  exit_code?: number | undefined;
}): string | undefined {
  const code = result.error_code ?? '';
  const exit = result.exit_code ?? 0;
  if (result.size_bytes && result.outcome !== 'completed') return 'size_bytes';
  const isRefusal =
    result.outcome === 'rejected' || result.outcome === 'failed' || result.outcome === 'unknown';
  if (result.offset && isRefusal) return 'offset';
  if (exit < 0 || exit > 255 || (exit !== 0 && result.outcome !== 'failed')) return 'exit_code';
  switch (result.outcome) {
    case 'rejected':
      return runtimePrepareRejectionCodes.some((known) => known === code) ? undefined : 'error_code';
    case 'failed':
      return code === 'runtime_preparation_failed' ? undefined : 'error_code';
    case 'unknown':
      return code === 'runtime_preparation_unconfirmed' ? undefined : 'error_code';
    default:
      return code === '' ? undefined : 'error_code';
  }
}
