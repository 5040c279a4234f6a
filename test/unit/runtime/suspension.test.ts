import { describe, expect, test } from 'vitest';
import { settle } from '../../support/fake-clock.ts';
import { RouterBed } from '../../support/router-bed.ts';
import type { Sender } from '../../../src/runtime/ports.ts';

const environment = '58e2e6ff-46cf-477f-8705-f19c41923382';
const session = '92ea7b07-1c1f-4eb1-b222-b335f2123ed8';
const bound = () =>
  new RouterBed({
    binding: {
      environmentId: environment,
      sessionId: session,
      workspace: '/w',
      recordedDirectory: '/w',
    },
  });
const local = {
  disable_execution_environment: undefined,
  local_environment: { id: environment, workspace_directory: '/workspace', capability_sources: null },
};
const ask = { environment_id: environment, suspend_id: 's1' };

describe('suspension', () => {
  test('is accepted when idle: idle Executors are closed, the answer is the last frame, later frames are refused', async () => {
    const bed = bound();
    await bed.startRun('run', 'prepare', session, local);
    await bed.harness.last.finish();
    await settle();
    bed.take();
    await bed.core('environment_quiesce', 'q', ask);
    expect(bed.take()).toEqual([
      { type: 'environment_quiesced', id: 'q', payload: { ...ask, accepted: true } },
    ]);
    expect(bed.harness.executors[0]?.closes).toBe(1);
    expect(bed.suspended).toEqual(['s1']);
    await bed.prepare('again', session, local);
    expect(bed.take()).toEqual([]);
    expect(bed.facts).toContainEqual({ type: 'dropped', reason: 'quiesced' });
  });

  test('is refused while anything is open, and admission stays open', async () => {
    const bed = bound();
    await bed.startRun('run', 'prepare', session, local);
    bed.take();
    await bed.core('environment_quiesce', 'q', ask);
    expect(bed.take().map((frame) => frame.payload)).toEqual([
      { ...ask, accepted: false, error_code: 'resource_busy' },
    ]);
    await bed.harness.last.finish();
    await settle();
    expect(bed.take().map((frame) => frame.type)).toEqual(['done']);
    expect(bed.suspended).toEqual([]);
  });

  test('names another Environment or a blank attempt: invalid_request', async () => {
    const bed = bound();
    await bed.core('environment_quiesce', 'q', { ...ask, environment_id: session });
    await bed.core('environment_quiesce', 'r', { ...ask, suspend_id: ' ' });
    expect(bed.take().map((frame) => (frame.payload as { error_code: string }).error_code)).toEqual([
      'invalid_request',
      'invalid_request',
    ]);
  });

  test('a close that does not confirm ends the connection instead of refusing everything silently', async () => {
    const bed = bound();
    await bed.startRun('run', 'prepare', session, local);
    await bed.harness.last.finish();
    await settle();
    const executor = bed.harness.executors[0];
    if (executor) executor.onClose = () => Promise.resolve({ state: 'unconfirmed', reason: 'still there' });
    bed.take();
    await bed.core('environment_quiesce', 'q', ask);
    expect(bed.take().map((frame) => frame.payload)).toEqual([
      { ...ask, accepted: false, error_code: 'resource_busy' },
    ]);
    expect(bed.suspended).toEqual(['failed']);
  });

  test('only the exact identity opens admission again, over the new connection', async () => {
    const bed = bound();
    await bed.core('environment_quiesce', 'q', ask);
    bed.take();
    const heard: unknown[] = [];
    const next: Sender = {
      send: (frame) => {
        heard.push([frame.type, frame.payload]);
        return Promise.resolve('written');
      },
      stream: () => Promise.resolve('entered'),
      backedUp: false,
    };
    const resume = (id: string) =>
      JSON.stringify({ type: 'environment_resume', id: 'r', payload: { ...ask, suspend_id: id } });
    expect(await bed.router.resumeOn(next, resume('other'))).toBe(false);
    expect(await bed.router.resumeOn(next, resume('s1'))).toBe(true);
    expect(heard).toEqual([['environment_resumed', { ...ask, accepted: true }]]);
    await bed.prepare('again', session, local);
    expect(heard.map((item) => (item as unknown[])[0])).toContain('preparation_status');
    // A repeat of the last completed attempt is answered as accepted, another one is not.
    await bed.core('environment_resume', 'r2', ask);
    await bed.core('environment_resume', 'r3', { ...ask, suspend_id: 'unknown' });
    expect(heard.slice(-2)).toEqual([
      ['environment_resumed', { ...ask, accepted: true }],
      [
        'environment_resumed',
        { ...ask, suspend_id: 'unknown', accepted: false, error_code: 'not_suspended' },
      ],
    ]);
  });
});
