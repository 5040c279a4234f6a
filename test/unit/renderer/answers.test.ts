import { describe, expect, test } from 'vitest';
import {
  answeredCount,
  givenAnswers,
  noChoice,
  pick,
  pickOther,
  typeOther,
  type Choice,
} from '../../../renderer/select/answers.ts';
import type { Question } from '../../../src/contract/view.ts';
import { prompts } from '../../support/renderer-fixture/samples.ts';

const questions = prompts.question.questions;
const find = (id: string): Question => {
  const question = questions.find((one) => one.id === id);
  if (question === undefined) throw new Error(id);
  return question;
};
const answers = (choices: Record<string, Choice>, secrets: Record<string, string> = {}) =>
  givenAnswers({ questions, choiceOf: (id) => choices[id] ?? noChoice, secretOf: (id) => secrets[id] ?? '' });

describe('choosing', () => {
  test('single: the last choice counts, an own text takes its place', () => {
    const db = find('db');
    let choice = pick(db, noChoice, 'Postgres in a container', true);
    choice = pick(db, choice, 'SQLite in memory', true);
    expect(choice.chosen).toEqual(['SQLite in memory']);
    choice = typeOther(db, choice, 'MariaDB');
    expect(choice).toEqual({ chosen: [], other: 'MariaDB', otherChosen: true });
    expect(typeOther(db, choice, '').otherChosen).toBe(false);
  });

  test('multiple: each is its own choice', () => {
    const cases = find('cases');
    let choice = pick(cases, noChoice, 'Duplicate files', true);
    choice = pick(cases, choice, 'Broken rows', true);
    expect(pick(cases, choice, 'Duplicate files', false).chosen).toEqual(['Broken rows']);
    expect(pickOther(cases, choice, true).chosen).toHaveLength(2);
  });
});

describe('what is sent', () => {
  test('labels in the order of the options, by question id', () => {
    expect(answers({ cases: { ...noChoice, chosen: ['Duplicate files', 'Broken rows'] } })).toEqual({
      cases: ['Broken rows', 'Duplicate files'],
    });
  });

  test('a question without an answer is left out', () => {
    expect(answers({})).toEqual({});
    expect(answers({ db: { ...noChoice, other: '  ', otherChosen: true } })).toEqual({});
  });

  test('an own text counts only while it is chosen', () => {
    expect(answers({ db: { chosen: ['SQLite in memory'], other: 'MariaDB', otherChosen: false } })).toEqual({
      db: ['SQLite in memory'],
    });
    expect(answers({ db: { chosen: [], other: 'MariaDB', otherChosen: true } })).toEqual({ db: ['MariaDB'] });
  });

  test('a label that is not an option is not sent', () => {
    expect(answers({ db: { ...noChoice, chosen: ['made up'] } })).toEqual({});
  });

  test('a secret comes from its field, as it was written', () => {
    expect(answers({}, { token: ' s3cret ' })).toEqual({ token: [' s3cret '] });
    expect(answers({}, { db: 'no secret here' })).toEqual({});
  });
});

test('the count knows that a secret is filled, not what it is', () => {
  const count = (filled: boolean) =>
    answeredCount({ questions, choiceOf: () => noChoice, secretFilled: () => filled });
  expect([count(false), count(true)]).toEqual([0, 1]);
});
