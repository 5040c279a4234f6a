import { lstat } from 'node:fs/promises';

import type { ChoiceQuestion } from '../../protocol/interactions.ts';
import type {
  ChoiceAnswer,
  NativeChoice,
  NativeFileChange,
  NativePermission,
  NativeSubject,
  PermissionAnswer,
} from '../adapter.ts';
import { unifiedDiff } from '../unified-diff.ts';
import { hasCode, placeOf, readShownFile } from '../workspace-file.ts';
import { splitMcpName } from './map-tools.ts';
import { askInput, type CanUseTool } from './native-types.ts';

/** The tool that asks the person a question; it arrives as a permission request like every other tool. */
export const ASK_TOOL = 'AskUserQuestion';

/** A native request larger than this is described in its payload instead of being repeated, bytes of JSON. */
const PAYLOAD_LIMIT = 256 * 1024;
const TITLE_LIMIT = 200;

/** Where files may be looked at; null shows a change by the request alone. */
type Look = { readonly workspace: string | null } | null;

/** `can_use_tool` as a permission request. Reads the file that would change, so that the change can be shown. */
export async function mapPermission(key: string, request: CanUseTool, look: Look): Promise<NativePermission> {
  const subject = await subjectOf(request, look);
  return {
    key,
    tool: request.tool_name,
    title: titleOf(request, subject),
    reason: textMember(request.input, 'description'),
    subject,
    payload: payloadOf(request),
    input: { ...request.input, description: undefined },
    ...(JSON.stringify(request.input).length <= PAYLOAD_LIMIT ? { editable: request.input } : {}),
    expiresInMs: null,
  };
}

/** The answer in the program's form. An answer that allows carries the input it allows. */
export function permissionReply(request: CanUseTool, answer: PermissionAnswer): Record<string, unknown> {
  const id = request.tool_use_id ? { toolUseID: request.tool_use_id } : {};
  switch (answer.kind) {
    case 'allow':
      return { behavior: 'allow', updatedInput: answer.updatedInput ?? request.input, ...id };
    case 'deny':
      return {
        behavior: 'deny',
        message: answer.message || 'The person denied this. Do not try it another way.',
        ...id,
      };
    case 'expired':
      return { behavior: 'deny', message: 'Nobody answered in time, so this was not done.', ...id };
  }
}

/** The question tool's request, with ids minted for its questions; null when its input is not of the known form. */
export function mapChoice(
  key: string,
  request: CanUseTool,
): { readonly choice: NativeChoice; readonly questionTexts: ReadonlyMap<string, string> } | null {
  const input = askInput.safeParse(request.input);
  if (!input.success) return null;
  const texts = new Map<string, string>();
  const questions = input.data.questions.map((question, index): ChoiceQuestion => {
    const id = `q${index + 1}`;
    texts.set(id, question.question);
    return {
      id,
      ...(question.header ? { header: question.header } : {}),
      question: question.question,
      multi_select: question.multiSelect === true,
      // The program takes any text as an answer.
      is_other: true,
      options: (question.options ?? []).map((option) => ({
        label: option.label,
        ...(option.description ? { description: option.description } : {}),
      })),
    };
  });
  return {
    choice: { key, questions, toolUseId: request.tool_use_id ?? null, expiresInMs: null },
    questionTexts: texts,
  };
}

/** Answers by question text, several joined by a comma. What was not answered is left out. */
export function choiceReply(
  request: CanUseTool,
  questionTexts: ReadonlyMap<string, string>,
  answer: ChoiceAnswer,
): Record<string, unknown> {
  const id = request.tool_use_id ? { toolUseID: request.tool_use_id } : {};
  if (answer.kind !== 'answers') {
    const message =
      answer.kind === 'expired'
        ? 'Nobody answered in time.'
        : 'The person chose not to answer. Go on without an answer.';
    return { behavior: 'deny', message, ...id };
  }
  const answers: Record<string, string> = {};
  for (const [questionId, values] of answer.answers) {
    const text = questionTexts.get(questionId);
    if (text !== undefined && values.length > 0) answers[text] = values.join(', ');
  }
  return { behavior: 'allow', updatedInput: { ...request.input, answers }, ...id };
}

async function subjectOf(request: CanUseTool, look: Look): Promise<NativeSubject> {
  const { tool_name: tool, input } = request;
  const command = textMember(input, 'command');
  // The program keeps the folder of its shell to itself.
  if (tool === 'Bash' && command !== null) return { kind: 'command', command, cwd: null };
  const path = textMember(input, 'file_path');
  const edit = path === null ? null : editOf(tool, input);
  if (path !== null && edit) return { kind: 'file_change', changes: [await changeOf(path, edit, look)] };
  return { kind: 'tool', name: tool, server: splitMcpName(tool)?.server ?? null, input };
}

type Edit =
  | { readonly kind: 'whole'; readonly content: string }
  | { readonly kind: 'parts'; readonly parts: readonly Replacement[] };
interface Replacement {
  readonly from: string;
  readonly to: string;
  readonly all: boolean;
}

function editOf(tool: string, input: Readonly<Record<string, unknown>>): Edit | null {
  if (tool === 'Write') {
    const content = textMember(input, 'content');
    return content === null ? null : { kind: 'whole', content };
  }
  if (tool === 'Edit') {
    const part = replacementOf(input);
    return part ? { kind: 'parts', parts: [part] } : null;
  }
  const edits = input['edits'];
  if (tool !== 'MultiEdit' || !Array.isArray(edits)) return null;
  const parts = edits.map((edit: unknown) => replacementOf(edit));
  return parts.every((part): part is Replacement => part !== null) ? { kind: 'parts', parts } : null;
}

function replacementOf(value: unknown): Replacement | null {
  if (typeof value !== 'object' || value === null) return null;
  const members: Record<string, unknown> = { ...value };
  const from = members['old_string'];
  const to = members['new_string'];
  if (typeof from !== 'string' || typeof to !== 'string') return null;
  return { from, to, all: members['replace_all'] === true };
}

/** The change as it would look in the file, or, where the file cannot be shown, the change alone. */
async function changeOf(path: string, edit: Edit, look: Look): Promise<NativeFileChange> {
  if (look === null) return { path, kind: 'update', diff: alone(edit) };
  const place = await placeOf(look.workspace, path);
  const current = place.inside ? await readShownFile(place.path) : { kind: await presence(place.path) };
  const kind = current.kind === 'missing' ? 'add' : 'update';
  const before = current.kind === 'text' ? current.text : '';
  const after = current.kind === 'unreadable' ? null : applied(before, edit);
  const diff = after === null ? alone(edit) : unifiedDiff(before, after);
  return { path: place.shown, kind, diff, insideWorkspace: place.inside };
}

/** Outside the workspace only whether something is there is looked at. */
const presence = (path: string): Promise<'missing' | 'unreadable'> =>
  lstat(path).then(
    () => 'unreadable',
    (error: unknown) => (hasCode(error, 'ENOENT') ? 'missing' : 'unreadable'),
  );

/** Null when a part is not found: the program will refuse the edit, and the file shows nothing. */
function applied(before: string, edit: Edit): string | null {
  if (edit.kind === 'whole') return edit.content;
  let text = before;
  for (const { from, to, all } of edit.parts) {
    if (from === '' ? text !== '' : !text.includes(from)) return null;
    text = from === '' ? to : all ? text.split(from).join(to) : text.replace(from, () => to);
  }
  return text;
}

const alone = (edit: Edit): string =>
  edit.kind === 'whole'
    ? unifiedDiff('', edit.content)
    : edit.parts.map(({ from, to }) => unifiedDiff(from, to)).join('');

function titleOf(request: CanUseTool, subject: NativeSubject): string {
  switch (subject.kind) {
    case 'command':
      return firstLine(subject.command);
    case 'file_change':
      return firstLine(
        subject.changes
          .map((change) => `${change.kind === 'add' ? 'Create' : 'Change'} ${change.path}`)
          .join(', '),
      );
    default:
      return firstLine(request.display_name || request.tool_name);
  }
}

function firstLine(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  const more = line.length < text.length || line.length > TITLE_LIMIT;
  return more ? `${line.slice(0, TITLE_LIMIT)} …` : line;
}

/** The native request for Core: what would be done, whole where it fits. */
function payloadOf(request: CanUseTool): Readonly<Record<string, unknown>> {
  const fits = JSON.stringify(request.input).length <= PAYLOAD_LIMIT;
  return {
    tool_name: request.tool_name,
    ...(fits ? { input: request.input } : { input_omitted: 'too large' }),
    ...(request.tool_use_id ? { tool_use_id: request.tool_use_id } : {}),
    ...(request.decision_reason ? { decision_reason: request.decision_reason } : {}),
    ...(request.blocked_path ? { blocked_path: request.blocked_path } : {}),
  };
}

function textMember(input: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = input[name];
  return typeof value === 'string' ? value : null;
}
