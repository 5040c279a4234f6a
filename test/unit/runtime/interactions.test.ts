import { describe, expect, test } from 'vitest';
import type { NativePermission } from '../../../src/harness/adapter.ts';
import { Deferred } from '../../support/controlled-harness.ts';
import { settle } from '../../support/fake-clock.ts';
import { RouterBed } from '../../support/router-bed.ts';

const permission: NativePermission = {
  key: 'k1',
  tool: 'Bash',
  title: 'npm test',
  reason: null,
  subject: { kind: 'command', command: 'npm test', cwd: '/w' },
  payload: { command: 'npm test' },
  expiresInMs: null,
};

async function asked(
  options: ConstructorParameters<typeof RouterBed>[0] = {},
  request: NativePermission = permission,
): Promise<{ bed: RouterBed; id: string }> {
  const bed = new RouterBed(options);
  await bed.startRun();
  bed.take();
  await bed.harness.last.output.emit({ type: 'permission', request });
  await settle();
  const opened = bed.facts.find((fact) => fact.type === 'interaction_opened');
  return { bed, id: opened?.type === 'interaction_opened' ? opened.id : '' };
}
const allow = { kind: 'permission', scope: 'once', answer: { kind: 'allow' } } as const;
const deny = { kind: 'permission', scope: 'once', answer: { kind: 'deny', message: 'no' } } as const;

describe('a permission', () => {
  test('is asked of Core and of the person, and the person answers once', async () => {
    const { bed, id } = await asked();
    expect(bed.take()).toEqual([
      {
        type: 'permission_request',
        id: 'run',
        payload: { request_id: id, tool: 'Bash', title: 'npm test', payload: { command: 'npm test' } },
      },
    ]);
    expect(await bed.router.answer(id, allow)).toEqual({ kind: 'applied', end: 'allowed' });
    await settle();
    expect(bed.take()).toEqual([{ type: 'permission_cancel', id, payload: null }]);
    await bed.core('permission_decision', id, { delivery_id: 'd', approved: true });
    expect(bed.take()).toEqual([
      {
        type: 'interaction_decision_ack',
        id,
        payload: { delivery_id: 'd', applied: false, error_code: 'not_pending' },
      },
    ]);
    expect(bed.harness.last.permissions).toHaveLength(1);
  });

  test('of two answers that race, the first admitted reaches the Harness and the other is told the truth', async () => {
    const { bed, id } = await asked();
    bed.take();
    const applied = new Deferred<'applied'>();
    bed.harness.last.onSubmit = () => applied.promise;
    const local = bed.router.answer(id, deny);
    await settle();
    await bed.core('permission_decision', id, { delivery_id: 'd', approved: true });
    expect(bed.take()).toEqual([]);
    applied.resolve('applied');
    expect(await local).toEqual({ kind: 'applied', end: 'denied' });
    await settle();
    expect(bed.take().map((frame) => frame.payload)).toEqual([
      null,
      { delivery_id: 'd', applied: false, error_code: 'not_pending' },
    ]);
    expect(bed.harness.last.permissions.map((item) => item.answer.kind)).toEqual(['deny']);
  });

  test('a failed native call reopens it for the answer that waited', async () => {
    const { bed, id } = await asked();
    bed.take();
    const first = new Deferred<'failed'>();
    bed.harness.last.onSubmit = () => first.promise;
    const local = bed.router.answer(id, deny);
    await settle();
    await bed.core('permission_decision', id, { delivery_id: 'd', approved: true });
    bed.harness.last.onSubmit = () => Promise.resolve('applied');
    first.resolve('failed');
    expect(await local).toEqual({ kind: 'failed' });
    await settle();
    expect(bed.take()).toEqual([
      { type: 'interaction_decision_ack', id, payload: { delivery_id: 'd', applied: true } },
    ]);
  });

  test("a repeat of Core's applied decision is acknowledged without touching the Harness; another content conflicts", async () => {
    const { bed, id } = await asked();
    bed.take();
    await bed.core('permission_decision', id, { delivery_id: 'd1', approved: true });
    await bed.core('permission_decision', id, { delivery_id: 'd2', approved: true });
    await bed.core('permission_decision', id, { delivery_id: 'd3', approved: false });
    expect(bed.take().map((frame) => frame.payload)).toEqual([
      { delivery_id: 'd1', applied: true },
      { delivery_id: 'd2', applied: true },
      { delivery_id: 'd3', applied: false, error_code: 'decision_conflict' },
    ]);
    expect(bed.harness.last.permissions).toHaveLength(1);
  });

  test('is withdrawn when its Turn is cancelled, and says so once', async () => {
    const { bed, id } = await asked();
    bed.take();
    await bed.core('prompt_cancel', 'run', { delivery_id: 'c' });
    expect(bed.facts).toContainEqual(
      expect.objectContaining({ type: 'interaction_ended', id, end: 'withdrawn' }),
    );
    expect(await bed.router.answer(id, allow)).toEqual({ kind: 'not_pending' });
    expect(bed.take()).toEqual([{ type: 'permission_cancel', id, payload: null }]);
  });

  test('expired is not denied', async () => {
    const { bed, id } = await asked({ interactions: { timeoutMs: 1_000 } });
    await bed.clock.advance(1_000);
    expect(bed.harness.last.permissions).toEqual([{ key: 'k1', answer: { kind: 'expired' } }]);
    expect(bed.facts).toContainEqual(
      expect.objectContaining({ type: 'interaction_ended', id, end: 'expired' }),
    );
  });

  test('answered_by local tells Core nothing; answered_by core refuses the person', async () => {
    const local = await asked({ interactions: { answeredBy: 'local' } });
    expect(local.bed.take()).toEqual([]);
    await local.bed.router.answer(local.id, allow);
    expect(local.bed.take()).toEqual([]);
    const core = await asked({ interactions: { answeredBy: 'core' } });
    expect(await core.bed.router.answer(core.id, allow)).toEqual({
      kind: 'refused',
      why: 'answered_by_core',
    });
  });

  test('allowed for this Turn covers exactly the same request and no other Turn', async () => {
    const { bed, id } = await asked();
    await bed.router.answer(id, { ...allow, scope: 'turn' });
    bed.take();
    await bed.harness.last.output.emit({ type: 'permission', request: { ...permission, key: 'k2' } });
    await settle();
    expect(bed.harness.last.permissions.map((item) => item.key)).toEqual(['k1', 'k2']);
    expect(bed.take()).toEqual([]);
    await bed.harness.last.output.emit({
      type: 'permission',
      request: {
        ...permission,
        key: 'k3',
        payload: { command: 'npm test; rm -rf x' },
        subject: { kind: 'command', command: 'npm test; rm -rf x', cwd: '/w' },
      },
    });
    await settle();
    expect(bed.harness.last.permissions).toHaveLength(2);
    expect(bed.take().map((frame) => frame.type)).toEqual(['permission_request']);
  });

  test('a rule of the Session is saved with the answer, applied once and said to have decided', async () => {
    const { bed, id } = await asked();
    await bed.router.answer(id, { ...allow, scope: 'session' });
    bed.take();
    await bed.harness.last.output.emit({ type: 'permission', request: { ...permission, key: 'k2' } });
    await settle();
    expect(bed.harness.last.permissions.map(({ key, answer }) => [key, answer.kind])).toEqual([
      ['k1', 'allow'],
      ['k2', 'allow'],
    ]);
    expect(bed.take()).toEqual([]);
    expect(bed.facts.filter((fact) => fact.type === 'interaction_ended').at(-1)).toMatchObject({
      by: 'rule',
      end: 'allowed',
      detail: expect.stringMatching(/^Rule for npm test, made \d{4}-/) as string,
    });
  });

  test('no rule can be saved for a chain, and nothing is decided by the attempt', async () => {
    const chained = { ...permission, subject: { kind: 'command', command: 'a && b', cwd: null } } as const;
    const { bed, id } = await asked({}, chained);
    expect(await bed.router.answer(id, { ...allow, scope: 'folder' })).toEqual({
      kind: 'refused',
      why: 'wrong_shape',
    });
    expect(bed.harness.last.permissions).toEqual([]);
    expect(await bed.router.answer(id, { ...allow, scope: 'turn' })).toMatchObject({ kind: 'applied' });
  });

  test('another input is allowed once where the Harness takes one, and refused elsewhere', async () => {
    const answer = { kind: 'allow', updatedInput: { command: 'npm t' } } as const;
    const plain = await asked();
    expect(await plain.bed.router.answer(plain.id, { ...allow, answer })).toMatchObject({ kind: 'refused' });
    const { bed, id } = await asked({}, { ...permission, editable: { command: 'npm test' } });
    expect(await bed.router.answer(id, { ...allow, answer, scope: 'turn' })).toMatchObject({
      kind: 'refused',
    });
    expect(await bed.router.answer(id, { ...allow, answer })).toMatchObject({ kind: 'applied' });
    expect(bed.harness.last.permissions).toMatchObject([{ key: 'k1', answer }]);
  });

  test('under accept_edits an edit inside the folder is let through where the Harness cannot do it', async () => {
    const policy = { interactions: { policy: 'accept_edits' } } as const;
    const inside = await asked(policy, { ...permission, isEditInside: true });
    expect(inside.bed.harness.last.permissions).toMatchObject([{ answer: { kind: 'allow' } }]);
    expect(inside.bed.facts.filter((fact) => fact.type === 'interaction_ended')).toMatchObject([
      { by: 'policy' },
    ]);
    const other = await asked(policy);
    expect(other.bed.harness.last.permissions).toEqual([]);
  });

  test('under the unattended policy it is decided by the policy and Core is not asked', async () => {
    const { bed } = await asked({ interactions: { policy: 'unattended' } });
    expect(bed.take()).toEqual([]);
    expect(bed.facts).toContainEqual(
      expect.objectContaining({ type: 'interaction_ended', end: 'allowed', by: 'policy' }),
    );
  });
});

describe('a question', () => {
  test('refuses ids that were not asked and keeps the route open', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    await bed.harness.last.output.emit({
      type: 'choice',
      request: {
        key: 'q',
        questions: [{ id: 'db', question: 'Which?', options: [{ label: 'A' }] }],
        toolUseId: 'tool',
        expiresInMs: null,
      },
    });
    await settle();
    const ask = bed.take()[0]?.payload as { ask_id: string };
    await bed.core('prompt_for_user_choice_decision', ask.ask_id, {
      delivery_id: 'd1',
      question_answers: [{ question_id: 'other', answers: ['A'] }],
    });
    await bed.core('prompt_for_user_choice_decision', ask.ask_id, {
      delivery_id: 'd2',
      question_answers: [{ question_id: 'db', answers: ['A'] }],
    });
    expect(bed.take().map((frame) => frame.payload)).toEqual([
      { delivery_id: 'd1', applied: false, error_code: 'runtime_error' },
      { delivery_id: 'd2', applied: true },
    ]);
    expect(bed.harness.last.choices).toHaveLength(1);
  });
});

describe('active input', () => {
  const input = [{ content: [{ type: 'input_text' as const, text: 'more' }] }];
  test('keeps written and accepted apart and answers a repeat from memory', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    await bed.core('prompt_steer', 'run', { input_id: '1', input, durable_receipt: true });
    expect(bed.take()).toEqual([]);
    const steer = bed.harness.last.steered[0];
    steer?.written();
    await settle();
    expect(bed.take().map((frame) => frame.payload)).toEqual([
      { input_id: '1', accepted: false, written: true },
    ]);
    await bed.clock.advance(60_000);
    steer?.result.resolve({ kind: 'accepted' });
    await settle();
    expect(bed.take().map((frame) => frame.payload)).toEqual([{ input_id: '1', accepted: true }]);
    await bed.core('prompt_steer', 'run', { input_id: '1', input, durable_receipt: true });
    expect(bed.take().map((frame) => frame.payload)).toEqual([{ input_id: '1', accepted: true }]);
    expect(bed.harness.last.steered).toHaveLength(1);
  });

  test('a blocked write is outcome_unknown after 10 s and a late report of it changes nothing', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    await bed.core('prompt_steer', 'run', { input_id: '1', input, durable_receipt: true });
    await bed.clock.advance(10_000);
    bed.harness.last.steered[0]?.written();
    await settle();
    expect(bed.take().map((frame) => frame.payload)).toEqual([
      { input_id: '1', accepted: false, error_code: 'outcome_unknown' },
    ]);
  });

  test('done waits for the receipt of an input in flight', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.take();
    await bed.core('prompt_steer', 'run', { input_id: '1', input, durable_receipt: true });
    bed.harness.last.steered[0]?.written();
    await settle();
    bed.take();
    await bed.harness.last.finish('x');
    await settle();
    expect(bed.take()).toEqual([]);
    bed.harness.last.steered[0]?.result.resolve({ kind: 'accepted' });
    await settle();
    expect(bed.take().map((frame) => frame.type)).toEqual(['prompt_steer_ack', 'done']);
  });
});
