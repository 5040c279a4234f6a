import { describe, expect, test } from 'vitest';

import { judgeFrame, type JudgeContext } from '../../../src/conformance/frames.ts';

const judge = (type: string, payload: unknown, context?: JudgeContext) =>
  judgeFrame({ frame: { type, id: 'x', payload }, context });

describe('a frame alone', () => {
  test.each([null, 4, 'x', [], {}, { type: 7 }])('%j is no frame', (frame) => {
    expect(judgeFrame({ frame })).toEqual({ ok: false, stage: 'decode', path: '' });
  });
  test('an unknown type is refused at its type', () => {
    expect(judgeFrame({ frame: { type: 'assign' } })).toEqual({ ok: false, stage: 'decode', path: '/type' });
  });
  test('undeclared members are refused in both directions, but not in an error', () => {
    expect(judge('delta', { delta: '', sequence: 1, x: 1 })).toMatchObject({
      ok: false,
      stage: 'decode',
      path: '/payload/x',
    });
    expect(judge('done', { content: '', usage: { tokens: { x: 1 } } })).toMatchObject({
      path: '/payload/usage/tokens/x',
    });
    expect(judge('error', { error: 'e', x: 1 })).toEqual({ ok: true, canonical: { error: 'e' } });
  });
  test('the canonical payload keeps a missing list apart from an empty one', () => {
    expect(judge('prompt_for_user_choice', { ask_id: 'a' }).canonical).toEqual({
      ask_id: 'a',
      questions: null,
    });
    expect(judge('prompt_for_user_choice', { ask_id: 'a', questions: [] }).canonical).toEqual({
      ask_id: 'a',
      questions: [],
    });
  });
  test('a reply is judged by itself where nothing is expected', () => {
    expect(judge('workspace_write_result', { outcome: 'received', offset: 16 }).ok).toBe(true);
  });
});

describe('a frame in its context', () => {
  const received = { outcome: 'received', offset: 16 };
  test.each<[string, unknown, JudgeContext, string | undefined]>([
    ['workspace_write_result', received, { expected: { outcome: 'received', offset: 16 } }, undefined],
    ['workspace_write_result', received, { expected: { outcome: 'received', offset: 8 } }, '/payload/offset'],
    ['workspace_write_result', received, { expected: { outcome: 'ready' } }, '/payload/outcome'],
    [
      'runtime_prepare_result',
      { outcome: 'completed', size_bytes: 16 },
      { expected: { outcome: 'completed', size_bytes: 17 } },
      '/payload/size_bytes',
    ],
    [
      'runtime_prepare_result',
      { outcome: 'unknown', error_code: 'runtime_preparation_unconfirmed' },
      { expected: { outcome: 'ready' } },
      undefined,
    ],
    [
      'prompt_for_user_choice_decision',
      { delivery_id: 'd', question_answers: [{ question_id: 'q', answers: [] }] },
      { questions: [{ id: 'q' }] },
      undefined,
    ],
    [
      'prompt_for_user_choice_decision',
      {
        delivery_id: 'd',
        question_answers: [
          { question_id: 'q', answers: [] },
          { question_id: 'Q', answers: [] },
        ],
      },
      { questions: { questions: [{ id: 'q' }] } },
      '/payload/question_answers/1/question_id',
    ],
    [
      'environment_quiesced',
      { environment_id: 'e', suspend_id: 's', accepted: true },
      { request: { environment_id: 'e', suspend_id: 's' } },
      undefined,
    ],
    [
      'environment_quiesced',
      { environment_id: 'e', suspend_id: 't', accepted: true },
      { request: { environment_id: 'e', suspend_id: 's' } },
      '/payload/suspend_id',
    ],
    [
      'environment_resumed',
      { environment_id: 'f', suspend_id: 's', accepted: true },
      { request: { type: 'environment_resume', payload: { environment_id: 'e', suspend_id: 's' } } },
      '/payload/environment_id',
    ],
  ])('%s %j against %j', (type, payload, context, path) => {
    const verdict = judge(type, payload, context);
    expect(verdict).toMatchObject(path === undefined ? { ok: true } : { ok: false, stage: 'validate', path });
  });

  const bytes = { handle: 'h', environment_id: 'e', path: 'a', max_bytes: 4 };
  const listing = {
    handle: 'h',
    environment_id: 'e',
    path: '',
    max_bytes: 0,
    operation: 'directory',
    max_entries: 1,
  };
  const entry = (name: string) => ({ name, kind: 'other', size_bytes: null });
  test.each<[string, unknown, Record<string, unknown>, string | undefined]>([
    [
      'bytes within the limit',
      { outcome: 'completed', close_acknowledged: true, data: 'YWFh' },
      bytes,
      undefined,
    ],
    [
      'a cut at the limit',
      { outcome: 'completed', close_acknowledged: true, data: 'YWFhYQ==', truncated: true },
      bytes,
      undefined,
    ],
    [
      'a cut before the limit',
      { outcome: 'completed', close_acknowledged: true, data: 'YWFh', truncated: true },
      bytes,
      '/payload/truncated',
    ],
    [
      'too many bytes',
      { outcome: 'completed', close_acknowledged: true, data: 'YWFhYWE=' },
      bytes,
      '/payload/data',
    ],
    [
      'a listing instead of bytes',
      { outcome: 'completed', close_acknowledged: true, directory: { entries: [], truncated: false } },
      bytes,
      '/payload/directory',
    ],
    ['no listing', { outcome: 'completed', close_acknowledged: true }, listing, '/payload/directory'],
    [
      'too many entries',
      {
        outcome: 'completed',
        close_acknowledged: true,
        directory: { entries: [entry('a'), entry('b')], truncated: true },
      },
      listing,
      '/payload/directory',
    ],
    [
      'no directory where bytes were asked',
      { outcome: 'rejected', error_code: 'not_directory' },
      bytes,
      '/payload/error_code',
    ],
    ['an unknown effect', { outcome: 'unknown', error_code: 'read_unconfirmed' }, listing, undefined],
  ])('a read answered with %s', (_, result, request, path) => {
    for (const context of [{ request }, { request: { type: 'workspace_read', id: 'x', payload: request } }])
      expect(judge('workspace_read_result', result, context)).toMatchObject(
        path === undefined ? { ok: true } : { ok: false, path },
      );
  });
});
