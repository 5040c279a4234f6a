import { describe, expect, test } from 'vitest';
import type { NativePermission } from '../../../src/harness/adapter.ts';
import { settle } from '../../support/fake-clock.ts';
import { RouterBed } from '../../support/router-bed.ts';

const permission: NativePermission = {
  key: 'k1',
  tool: 'Bash',
  title: 'npm test',
  reason: null,
  subject: { kind: 'command', command: 'npm test', cwd: '/w' },
  payload: {},
  expiresInMs: null,
};
const policies = (bed: RouterBed): string[] => bed.harness.prepared.map(({ policy }) => policy);
const ask = async (bed: RouterBed): Promise<void> => {
  await bed.harness.last.output.emit({ type: 'permission', request: permission });
  await settle();
};
const opened = (bed: RouterBed): number =>
  bed.facts.filter((fact) => fact.type === 'interaction_opened').length;

describe('a policy that a person changes', () => {
  test('does not reach into a Turn that runs, which keeps what it began with', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    bed.interactions.policy = 'unattended';
    bed.router.policyChanged();
    await ask(bed);
    expect(opened(bed)).toBe(1);
    expect(bed.harness.last.permissions).toEqual([]);
  });

  test('is that of the next Turn: the Executor of the last one is closed after it, not broken off', async () => {
    const bed = new RouterBed({ interactions: { policy: 'unattended' } });
    await bed.startRun();
    bed.interactions.policy = 'ask';
    bed.router.policyChanged();
    expect(bed.router.usage).toEqual({ active: 1, idle: 0, total: 1 });
    await bed.harness.last.finish('done');
    await settle();
    expect(bed.router.usage).toEqual({ active: 0, idle: 0, total: 0 });
    await bed.startRun('next', 'prepare-next');
    expect(policies(bed)).toEqual(['unattended', 'ask']);
    await ask(bed);
    expect(opened(bed)).toBe(1);
  });

  test('closes what waits idle, and leaves it where nothing changed', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    await bed.harness.last.finish('done');
    await settle();
    bed.router.policyChanged();
    await settle();
    expect(bed.router.usage.idle).toBe(1);
    bed.interactions.policy = 'accept_edits';
    bed.router.policyChanged();
    await settle();
    expect(bed.router.usage).toEqual({ active: 0, idle: 0, total: 0 });
  });
});

describe('who may answer, changed by a person', () => {
  test('counts from the next prompt on: one that is open is answered as it was shown', async () => {
    const bed = new RouterBed();
    await bed.startRun();
    await ask(bed);
    const shown = bed.facts.find((fact) => fact.type === 'interaction_opened');
    if (shown?.type !== 'interaction_opened') throw new Error('nothing was shown');
    expect(shown.answerable).toBe(true);
    bed.interactions.answeredBy = 'core';
    const allow = { kind: 'permission', scope: 'once', answer: { kind: 'allow' } } as const;
    expect(await bed.router.answer(shown.id, allow)).toEqual({ kind: 'applied', end: 'allowed' });
  });

  test('a prompt that was shown as Core’s alone stays that', async () => {
    const bed = new RouterBed({ interactions: { answeredBy: 'core' } });
    await bed.startRun();
    await ask(bed);
    const shown = bed.facts.find((fact) => fact.type === 'interaction_opened');
    bed.interactions.answeredBy = 'both';
    const id = shown?.type === 'interaction_opened' ? shown.id : '';
    const allow = { kind: 'permission', scope: 'once', answer: { kind: 'allow' } } as const;
    expect(await bed.router.answer(id, allow)).toEqual({ kind: 'refused', why: 'answered_by_core' });
  });
});
