import * as z from 'zod';

import type { ChoiceQuestion } from '../../protocol/interactions.ts';
import type { ChoiceAnswer, NativeChoice } from '../adapter.ts';
import type { AgentMessage, Elicitation, UserInputRequest } from './native-types.ts';

type Answers = Extract<ChoiceAnswer, { kind: 'answers' }>['answers'];

/** A question with the native form of its answers. */
export interface MappedChoice {
  readonly choice: NativeChoice;
  readonly reply: (answers: Answers) => unknown;
  /** The form's own word for "no answer"; without one the request is answered by an error. */
  readonly none?: unknown;
}

const NOT_ANSWERED = { action: 'cancel', content: null, _meta: null };
const DECLINED = { action: 'decline', content: null, _meta: null };

/** The model's own question. Questions that were not answered are left out; an explicit non-answer is empty. */
export function mapUserInput(key: string, request: UserInputRequest): MappedChoice {
  const questions = request.questions.map((question): ChoiceQuestion => ({
    id: question.id,
    ...(question.header ? { header: question.header } : {}),
    question: question.question,
    // Free text is the only way to answer a question without options.
    is_other: question.isOther || !question.options?.length,
    is_secret: question.isSecret,
    options: (question.options ?? []).map((option) => ({
      label: option.label,
      ...(option.description ? { description: option.description } : {}),
    })),
  }));
  const expiresInMs = request.autoResolutionMs ?? null;
  return {
    choice: { key, questions, toolUseId: request.itemId, expiresInMs },
    reply: (answers) => ({
      answers: Object.fromEntries([...answers].map(([id, values]) => [id, { answers: [...values] }])),
    }),
  };
}

const enumOption = z.object({ const: z.string(), title: z.string().optional() });
const property = z.looseObject({
  type: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.string()).optional(),
  enumNames: z.array(z.string()).optional(),
  oneOf: z.array(enumOption).optional(),
  items: z
    .looseObject({ enum: z.array(z.string()).optional(), anyOf: z.array(enumOption).optional() })
    .optional(),
});
const form = z.object({
  properties: z.record(z.string(), property),
  required: z.array(z.string()).nullish(),
});
type Property = z.infer<typeof property>;

const YES = 'Yes';
const NO = 'No';

/** A form of an MCP server: one question for each of its members. Null for a form that is not of that kind. */
export function mapElicitation(key: string, request: Elicitation): MappedChoice | null {
  const parsed = form.safeParse(request.requestedSchema);
  if (request.mode !== 'form' || !parsed.success) return null;
  const members = Object.entries(parsed.data.properties);
  if (members.length === 0) return confirmation(key, request);
  const questions = members.map(([id, member]) => question(id, member, request));
  const required = new Set(parsed.data.required ?? []);
  return {
    choice: { key, questions, toolUseId: null, expiresInMs: null },
    reply: (answers) => {
      const content: Record<string, unknown> = {};
      for (const [id, member] of members) {
        const value = valueOf(member, answers.get(id) ?? []);
        if (value !== undefined) content[id] = value;
        else if (required.has(id)) return DECLINED;
      }
      return { action: 'accept', content, _meta: null };
    },
    none: NOT_ANSWERED,
  };
}

function confirmation(key: string, request: Elicitation): MappedChoice {
  const asked: ChoiceQuestion = {
    id: 'confirm',
    header: request.serverName,
    question: request.message ?? '',
    is_other: false,
    options: [{ label: YES }, { label: NO }],
  };
  return {
    choice: { key, questions: [asked], toolUseId: null, expiresInMs: null },
    reply: (answers) =>
      answers.get('confirm')?.[0] === YES ? { action: 'accept', content: {}, _meta: null } : DECLINED,
    none: NOT_ANSWERED,
  };
}

function question(id: string, member: Property, request: Elicitation): ChoiceQuestion {
  const options = optionsOf(member);
  const about = [request.message, member.description].filter((part) => part).join('\n');
  return {
    id,
    header: member.title ?? id,
    question: about || id,
    multi_select: member.type === 'array',
    is_other: options.length === 0,
    options: options.map(({ label }) => ({ label })),
  };
}

function optionsOf(member: Property): readonly { readonly label: string; readonly value: string }[] {
  if (member.type === 'boolean')
    return [
      { label: YES, value: YES },
      { label: NO, value: NO },
    ];
  const titled = member.oneOf ?? member.items?.anyOf;
  if (titled) return titled.map((option) => ({ label: option.title ?? option.const, value: option.const }));
  const plain = member.enum ?? member.items?.enum ?? [];
  return plain.map((value, index) => ({ label: member.enumNames?.[index] ?? value, value }));
}

/** The answers in the member's own type; undefined when there is none, or none that fits. */
function valueOf(member: Property, answers: readonly string[]): unknown {
  const options = optionsOf(member);
  const valued = answers.map((answer) => options.find((option) => option.label === answer)?.value ?? answer);
  if (member.type === 'array') return answers.length > 0 ? valued : undefined;
  const [first] = valued;
  if (first === undefined) return undefined;
  if (member.type === 'boolean') return first === YES ? true : first === NO ? false : undefined;
  if (member.type !== 'number' && member.type !== 'integer') return first;
  const number = Number(first);
  const fits = first.trim() !== '' && Number.isFinite(number);
  return fits && (member.type === 'number' || Number.isInteger(number)) ? number : undefined;
}

/**
 * A question that the model asks by a message and does not wait for. Its answer is input of the running Turn, so
 * `reply` gives the text of that input.
 */
export function mapAsyncQuestion(message: AgentMessage): MappedChoice | null {
  const asked = message.questions ?? [];
  if (message.delivery !== 'async' || asked.length === 0) return null;
  const questions = asked.map((each, index): ChoiceQuestion => ({
    id: `q${index + 1}`,
    question: each.title,
    is_other: true,
    options: (each.options ?? []).map((label) => ({ label })),
  }));
  return {
    choice: { key: `message ${message.id}`, questions, toolUseId: message.id, expiresInMs: null },
    reply: (answers) =>
      questions
        .flatMap(({ id, question: title }) => {
          const values = answers.get(id) ?? [];
          return values.length > 0 ? [`${title}\n${values.join(', ')}`] : [];
        })
        .join('\n\n'),
  };
}
