import type { ChoiceQuestion } from '../../protocol/interactions.ts';
import { isJsonObject } from '../../protocol/presence.ts';
import type {
  ChoiceAnswer,
  NativeChoice,
  NativeFileChange,
  NativePermission,
  NativeSubject,
  PermissionAnswer,
} from '../adapter.ts';
import { unifiedDiff } from '../unified-diff.ts';
import { placeOf } from '../workspace-file.ts';
import { commandOf, nameOf } from './map-updates.ts';
import type { ElicitationProperty, ElicitationRequest, PermissionRequest, ToolCall } from './protocol.ts';

const PAYLOAD_LIMIT = 256 * 1024;
const TITLE_LIMIT = 200;

/** `session/request_permission` for the person. `call`: all that is known of the tool call. */
export async function mapPermission(
  key: string,
  call: ToolCall,
  workspace: string | null,
): Promise<NativePermission> {
  const subject = await subjectOf(call, workspace);
  const changes = subject.kind === 'file_change' ? subject.changes : [];
  const places = await Promise.all((call.locations ?? []).map(({ path }) => placeOf(workspace, path)));
  const inside =
    changes.length > 0 &&
    changes.every(({ insideWorkspace }) => insideWorkspace === true) &&
    places.every((place) => place.inside);
  const payload = { tool_call: { ...call, content: undefined } };
  const small = JSON.stringify(payload).length <= PAYLOAD_LIMIT;
  return {
    key,
    tool: call.kind || 'tool',
    title: nameOf(call).slice(0, TITLE_LIMIT),
    reason: null,
    subject,
    payload: small ? payload : { tool_call: { title: nameOf(call), too_large: true } },
    input: { kind: call.kind, input: withoutDescription(call.rawInput), content: call.content },
    expiresInMs: null,
    ...(inside ? { isEditInside: true } : {}),
  };
}

const withoutDescription = (input: unknown): unknown =>
  isJsonObject(input) ? { ...input, description: undefined } : (input ?? null);

async function subjectOf(call: ToolCall, workspace: string | null): Promise<NativeSubject> {
  const command = call.kind === 'execute' ? commandOf(call) : null;
  if (command !== null) {
    const cwd = isJsonObject(call.rawInput) ? call.rawInput['cwd'] : undefined;
    return { kind: 'command', command, cwd: typeof cwd === 'string' ? cwd : workspace };
  }
  const changes: NativeFileChange[] = [];
  for (const part of call.content ?? []) {
    if (part.type !== 'diff') continue;
    const place = await placeOf(workspace, part.path);
    const before = part.oldText ?? '';
    changes.push({
      path: place.shown,
      kind: part.oldText === null || part.oldText === undefined ? 'add' : 'update',
      diff: unifiedDiff(before, part.newText),
      insideWorkspace: place.inside,
    });
  }
  if (changes.length > 0) return { kind: 'file_change', changes };
  return { kind: 'tool', name: nameOf(call), server: null, input: call.rawInput ?? null };
}

/** The option of the agent's that says no more than the answer: once before always. Else the outcome "cancelled". */
export function permissionOutcome(
  options: PermissionRequest['options'],
  answer: PermissionAnswer,
): Record<string, unknown> {
  const kinds = {
    allow: ['allow_once', 'allow_always'],
    deny: ['reject_once', 'reject_always'],
    expired: [],
  };
  for (const kind of kinds[answer.kind]) {
    const option = options.find((candidate) => candidate.kind === kind);
    if (option) return { outcome: { outcome: 'selected', optionId: option.optionId } };
  }
  return cancelledOutcome;
}

export const cancelledOutcome = { outcome: { outcome: 'cancelled' } };

/** `elicitation/create` of mode `form`: a question for each property. Null when there is nothing to ask. */
export function mapChoice(key: string, request: ElicitationRequest): NativeChoice | null {
  const properties = Object.entries(request.requestedSchema?.properties ?? {});
  if (request.mode !== 'form' || properties.length === 0) return null;
  const single = properties.length === 1;
  const questions = properties.map(([id, property]): ChoiceQuestion => {
    const own = property.description ?? property.title ?? id;
    const options = optionsOf(property);
    return {
      id,
      header: property.title ?? undefined,
      question: single ? request.message : `${request.message}\n${own}`,
      ...(property.kind === 'array' ? { multi_select: true } : {}),
      ...(options.length === 0 ? { is_other: true } : {}),
      ...(property.secret ? { is_secret: true } : {}),
      options,
    };
  });
  return { key, questions, toolUseId: request.toolCallId ?? null, expiresInMs: null };
}

/** The agent's values behind the answered labels. A value that is not of the asked type makes the answer a refusal. */
export function choiceResult(request: ElicitationRequest, answer: ChoiceAnswer): Record<string, unknown> {
  if (answer.kind !== 'answers') return { action: 'cancel' };
  const content: Record<string, unknown> = {};
  for (const [id, property] of Object.entries(request.requestedSchema?.properties ?? {})) {
    const given = answer.answers.get(id);
    if (!given || given.length === 0) continue;
    const value = valueOf(property, given);
    if (value === undefined) return { action: 'cancel' };
    content[id] = value;
  }
  return { action: 'accept', content };
}

const YES = 'Yes';
const NO = 'No';

function optionsOf(property: ElicitationProperty): { label: string; description?: string }[] {
  if (property.kind === 'boolean') return [{ label: YES }, { label: NO }];
  return (property.options ?? []).map((option) => ({
    label: labelOf(option),
    ...(option.description ? { description: option.description } : {}),
  }));
}

type Option = NonNullable<ElicitationProperty['options']>[number];
const labelOf = (option: Option): string => option.title || option.const;

function valueOf(property: ElicitationProperty, given: readonly string[]): unknown {
  const [first = ''] = given;
  const native = (label: string): string =>
    property.options?.find((option) => labelOf(option) === label)?.const ?? label;
  switch (property.kind) {
    case 'array':
      return given.map(native);
    case 'boolean':
      return first === YES ? true : first === NO ? false : undefined;
    case 'number':
    case 'integer': {
      const number = Number(first);
      return first.trim() !== '' && Number.isFinite(number) ? number : undefined;
    }
    default:
      return native(first);
  }
}
