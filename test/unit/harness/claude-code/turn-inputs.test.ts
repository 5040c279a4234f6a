import { describe, expect, test } from 'vitest';

import {
  anyCancelled,
  haveBeenRead,
  haveBeenTaken,
  inputsOver,
  noInputs,
  stepInputs,
  type InputEvent,
  type Inputs,
} from '../../../../src/harness/claude-code/turn-inputs.ts';

const after = (...events: readonly InputEvent[]): Inputs => events.reduce(stepInputs, noInputs);
const written = (...uuids: string[]): InputEvent => ({ type: 'written', uuids });
const life = (uuid: string, ...states: string[]): InputEvent[] =>
  states.map((state) => ({ type: 'lifecycle', uuid, state }));
const result = (...uuids: string[]): InputEvent => ({ type: 'result', uuids });

describe('when a Turn is over', () => {
  test.each<[string, InputEvent[], boolean]>([
    ['nothing was written', [], false],
    ['written only', [written('a')], false],
    ['taken, no result', [written('a'), ...life('a', 'queued', 'started')], false],
    ['a result named it', [written('a'), ...life('a', 'queued', 'started'), result('a')], true],
    ['a result named another', [written('a'), ...life('a', 'queued', 'started'), result('b')], false],
    ['completed before its result', [written('a'), ...life('a', 'queued', 'started', 'completed')], false],
    [
      'completed and then a result that names the first only',
      [
        written('a', 'b'),
        ...life('a', 'started'),
        ...life('b', 'queued', 'started', 'completed'),
        result('a'),
      ],
      true,
    ],
    [
      'one waits in the queue',
      [written('a', 'b'), ...life('a', 'started'), ...life('b', 'queued'), result('a')],
      false,
    ],
    [
      'the queued one was cancelled',
      [written('a', 'b'), ...life('a', 'started'), result('a'), { type: 'cancelled', uuids: ['b'] }],
      true,
    ],
    [
      'cancelled while it ran counts only with the result',
      [written('a'), ...life('a', 'started', 'cancelled')],
      false,
    ],
    [
      'cancelled while it ran, with the result',
      [written('a'), ...life('a', 'started'), result('a'), ...life('a', 'cancelled')],
      true,
    ],
    ['cancelled before it ran', [written('a'), ...life('a', 'queued', 'cancelled')], true],
    [
      'an interrupt does not cancel what runs',
      [written('a'), ...life('a', 'started'), { type: 'cancelled', uuids: ['a'] }],
      false,
    ],
    [
      'a result without names ends what runs',
      [written('a', 'b'), ...life('a', 'started'), ...life('b', 'queued'), { type: 'result', uuids: null }],
      false,
    ],
    [
      'a result without names, nothing waits',
      [written('a'), ...life('a', 'started'), { type: 'result', uuids: null }],
      true,
    ],
    ['news about a stranger changes nothing', [written('a'), ...life('x', 'started'), result('x')], false],
  ])('%s', (_, events, over) => {
    expect(inputsOver(after(...events))).toBe(over);
  });
});

test('read, taken and cancelled are three different facts', () => {
  let inputs = after(written('a', 'b'));
  expect(haveBeenRead(inputs, ['a', 'b'])).toBe(false);
  inputs = [...life('a', 'queued'), ...life('b', 'queued')].reduce(stepInputs, inputs);
  expect(haveBeenRead(inputs, ['a', 'b'])).toBe(true);
  expect(haveBeenTaken(inputs, ['a', 'b'])).toBe(false);
  inputs = life('a', 'started').reduce(stepInputs, inputs);
  expect(haveBeenTaken(inputs, ['a'])).toBe(true);
  expect(haveBeenTaken(inputs, ['a', 'b'])).toBe(false);
  inputs = stepInputs(inputs, { type: 'cancelled', uuids: ['a', 'b'] });
  expect(anyCancelled(inputs, ['a'])).toBe(false);
  expect(anyCancelled(inputs, ['a', 'b'])).toBe(true);
});

test('late or repeated news never moves a message backwards', () => {
  const over = after(written('a'), ...life('a', 'queued', 'started'), result('a'));
  for (const event of [...life('a', 'queued', 'started', 'completed', 'cancelled'), result('a')]) {
    expect(stepInputs(over, event).get('a')).toBe('over');
  }
});
