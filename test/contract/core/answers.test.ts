import { afterEach, describe, expect, test } from 'vitest';

import { CoreBed } from '../../support/core-bed.ts';

let bed: CoreBed;
afterEach(() => bed.close());

const permission = {
  request_id: 'perm_1',
  tool: 'command_execution',
  title: 'npm test',
  payload: { cwd: '/workspace' },
};
const choice = {
  ask_id: 'ask_1',
  questions: [
    { id: 'db', question: 'Which?', options: [{ label: 'Postgres' }] },
    { id: 'features', question: 'What?', multi_select: true, options: [] },
  ],
};

async function asked(): Promise<string> {
  bed = await CoreBed.open();
  const runId = await bed.running();
  await bed.say(runId, 'permission_request', permission);
  await bed.say(runId, 'prompt_for_user_choice', choice);
  return runId;
}

test('what a Run asks is shown and left to the person', async () => {
  const runId = await asked();
  expect(bed.core.interactions()).toMatchObject([
    { kind: 'permission', interactionId: 'perm_1', runId, title: 'npm test' },
    { kind: 'user_choice', interactionId: 'ask_1', questions: [{ id: 'db' }, { id: 'features' }] },
  ]);
  expect(await bed.runtime.drain()).toEqual([]);
});

test('an answer is applied when its receipt says so', async () => {
  await asked();
  const answer = bed.core.answer('perm_1', {
    kind: 'permission',
    approved: true,
    updatedInput: { command: 'ls' },
  });
  const decision = await bed.expect('permission_decision');
  expect(decision).toEqual({
    type: 'permission_decision',
    id: 'perm_1',
    payload: { delivery_id: expect.any(String), approved: true, updated_input: { command: 'ls' } },
  });
  expect(await bed.core.answer('perm_1', { kind: 'permission', approved: false })).toEqual({ kind: 'busy' });
  await bed.say('perm_1', 'interaction_decision_ack', {
    delivery_id: decision.payload?.['delivery_id'],
    applied: true,
  });
  expect(await answer).toEqual({ kind: 'applied' });
  expect(await bed.core.answer('perm_1', { kind: 'permission', approved: true })).toEqual({
    kind: 'not_pending',
  });
});

test.each([
  ['not_pending', false],
  ['decision_conflict', false],
  ['runtime_error', true],
  ['not_ready', true],
])('a refusal with %s says so; it may be tried again: %s', async (error_code, retryable) => {
  await asked();
  const answer = bed.core.answer('perm_1', { kind: 'permission', approved: true });
  const first = await bed.expect('permission_decision');
  await bed.say('perm_1', 'interaction_decision_ack', {
    delivery_id: first.payload?.['delivery_id'],
    applied: false,
    error_code,
  });
  expect(await answer).toEqual({ kind: 'refused', code: error_code, retryable });
  const again = bed.core.answer('perm_1', { kind: 'permission', approved: true });
  if (!retryable) expect(await again).toEqual({ kind: 'not_pending' });
  else
    expect((await bed.expect('permission_decision')).payload?.['delivery_id']).not.toBe(
      first.payload?.['delivery_id'],
    );
});

test('without a receipt an answer is unknown', async () => {
  await asked();
  const answer = bed.core.answer('perm_1', { kind: 'permission', approved: true });
  await bed.expect('permission_decision');
  await bed.clock.advance(15_000);
  expect(await answer).toEqual({ kind: 'unknown' });
});

test('answers name emitted questions, cancel, or are not sent', async () => {
  await asked();
  const answers = (...entries: [string, string[]][]) => ({
    kind: 'answers' as const,
    answers: new Map(entries),
  });
  expect(await bed.core.answer('ask_1', answers(['Database', ['Postgres']]))).toEqual({ kind: 'invalid' });
  expect(await bed.core.answer('ask_1', { kind: 'permission', approved: true })).toEqual({ kind: 'invalid' });
  expect(await bed.core.answer('perm_1', { kind: 'cancelled' })).toEqual({ kind: 'invalid' });
  expect(await bed.runtime.drain()).toEqual([]);
  void bed.core.answer('ask_1', answers(['features', []], ['db', ['Postgres']]));
  expect((await bed.expect('prompt_for_user_choice_decision')).payload).toEqual({
    delivery_id: expect.any(String),
    question_answers: [
      { question_id: 'features', answers: [] },
      { question_id: 'db', answers: ['Postgres'] },
    ],
  });
});

test('a choice can be cancelled with a reason', async () => {
  await asked();
  void bed.core.answer('ask_1', { kind: 'cancelled', reason: 'timeout' });
  expect((await bed.expect('prompt_for_user_choice_decision')).payload).toEqual({
    delivery_id: expect.any(String),
    cancelled: true,
    reason: 'timeout',
  });
});

describe('an interaction is not open any more', () => {
  test('when it was withdrawn', async () => {
    await asked();
    bed.runtime.send({ type: 'permission_cancel', id: 'perm_1' });
    await bed.settled();
    expect(bed.core.interactions().map((open) => open.interactionId)).toEqual(['ask_1']);
  });
  test('when its Run is over', async () => {
    const runId = await asked();
    await bed.say(runId, 'done', { content: '' });
    expect(bed.core.interactions()).toEqual([]);
    expect(await bed.core.answer('perm_1', { kind: 'permission', approved: true })).toEqual({
      kind: 'not_pending',
    });
  });
});
