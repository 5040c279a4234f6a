import type { Question } from '../../src/contract/view.ts';

/** What the person chose for one question; `other` counts only while it is chosen. */
export interface Choice {
  readonly chosen: readonly string[];
  readonly other: string;
  readonly otherChosen: boolean;
}
export const noChoice: Choice = { chosen: [], other: '', otherChosen: false };

/** A question with a field for an own text: asked for, or the only way to answer. */
export const takesText = (question: Question): boolean =>
  question.is_other === true || question.is_secret === true || question.options.length === 0;

/** A secret is read from its field when it is sent and kept nowhere else. */
export const isSecret = (question: Question): boolean => question.is_secret === true;

export function pick(question: Question, choice: Choice, label: string, on: boolean): Choice {
  if (question.multi_select !== true) return { ...choice, chosen: on ? [label] : [], otherChosen: false };
  return {
    ...choice,
    chosen: on
      ? [...choice.chosen.filter((old) => old !== label), label]
      : choice.chosen.filter((old) => old !== label),
  };
}

export function pickOther(question: Question, choice: Choice, on: boolean): Choice {
  return question.multi_select === true
    ? { ...choice, otherChosen: on }
    : { ...choice, chosen: on ? [] : choice.chosen, otherChosen: on };
}

/** Typing chooses the field; emptying it takes the choice back. */
export const typeOther = (question: Question, choice: Choice, text: string): Choice =>
  pickOther(question, { ...choice, other: text }, text.trim() !== '');

export interface GivenAnswers {
  readonly questions: readonly Question[];
  readonly choiceOf: (id: string) => Choice;
  /** The text of a secret's field right now. */
  readonly secretOf: (id: string) => string;
}

function given(question: Question, choice: Choice, secret: string): readonly string[] {
  const chosen = question.options
    .map((option) => option.label)
    .filter((label) => choice.chosen.includes(label));
  if (isSecret(question)) return secret === '' ? chosen : [...chosen, secret];
  return choice.otherChosen && choice.other.trim() !== '' ? [...chosen, choice.other] : chosen;
}

/** Question id to labels or text, in the order of the options. A question without an answer is left out. */
export function givenAnswers({ questions, choiceOf, secretOf }: GivenAnswers): Record<string, string[]> {
  const answers: Record<string, string[]> = {};
  for (const question of questions) {
    const values = given(question, choiceOf(question.id), isSecret(question) ? secretOf(question.id) : '');
    if (values.length > 0) answers[question.id] = [...values];
  }
  return answers;
}

export interface AnsweredCount {
  readonly questions: readonly Question[];
  readonly choiceOf: (id: string) => Choice;
  readonly secretFilled: (id: string) => boolean;
}

export const answeredCount = ({ questions, choiceOf, secretFilled }: AnsweredCount): number =>
  questions.filter(
    (question) => given(question, choiceOf(question.id), secretFilled(question.id) ? '•' : '').length > 0,
  ).length;
