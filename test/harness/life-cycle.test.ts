import { describe } from 'vitest';

import { adapterSuite } from './adapter-suite.ts';
import { claude, claudeBed, ClaudeBed, demoBed, type Bed } from './bed.ts';
import { codex, codexBed, CodexBed } from './codex/codex-bed.ts';

adapterSuite({
  name: 'Demo',
  open: demoBed,
  script: () => undefined,
  async completeTurn(_bed, starting) {
    const started = await starting;
    const { request } = await started.output.next('choice');
    await started.turn.submitChoice?.(request.key, { kind: 'cancelled', reason: null });
    const asked = await started.output.next('permission');
    await started.turn.submitPermission?.(asked.request.key, { kind: 'deny', message: null });
    await started.output.end();
    return started;
  },
  async activeTurn(_bed, starting) {
    const started = await starting;
    await started.output.next('delta', 3);
    return started;
  },
});

const model = (bed: Bed): ClaudeBed['model'] => {
  if (bed instanceof ClaudeBed) return bed.model;
  throw new Error('not a bed with a model');
};

describe.skipIf(claude === null)('Claude Code', () => {
  adapterSuite({
    name: 'Claude Code',
    open: claudeBed,
    script: (bed) =>
      model(bed).setScenario([
        { when: { lastUser: 'First' }, steps: [{ text: 'One.' }] },
        {
          when: { lastUser: 'Second' },
          steps: [
            { text: 'Running.' },
            { tool: 'Bash', id: 'toolu_1', input: { command: 'touch made; sleep 0.5' } },
          ],
        },
        { when: { lastUser: 'More' }, steps: [{ text: ['Two, ', { hold: 'talking' }, 'never said.'] }] },
        { steps: [{ text: 'Three.' }] },
      ]),
    async completeTurn(_bed, starting) {
      const started = await starting;
      await started.output.end();
      return started;
    },
    async activeTurn(_bed, starting) {
      const started = await starting;
      const asked = await started.output.next('permission');
      await started.turn.submitPermission?.(asked.request.key, { kind: 'allow' });
      return started;
    },
  });
});

const responses = (bed: Bed): CodexBed['model'] => {
  if (bed instanceof CodexBed) return bed.model;
  throw new Error('not a bed with a model');
};

describe.skipIf(codex === null)('Codex', () => {
  adapterSuite({
    name: 'Codex',
    open: codexBed,
    script: (bed) =>
      responses(bed).setScenario([
        { when: { lastUser: 'First' }, steps: [{ text: 'One.' }] },
        {
          when: { lastUser: 'Second' },
          steps: [
            { text: 'Running.' },
            { tool: 'exec_command', id: 'call_1', input: { cmd: 'touch made; sleep 0.5' } },
          ],
        },
        { when: { lastUser: 'More' }, steps: [{ text: ['Two, ', { hold: 'talking' }, 'never said.'] }] },
        { steps: [{ text: 'Three.' }] },
      ]),
    async completeTurn(_bed, starting) {
      const started = await starting;
      await started.output.end();
      return started;
    },
    async activeTurn(_bed, starting) {
      const started = await starting;
      const asked = await started.output.next('permission');
      await started.turn.submitPermission?.(asked.request.key, { kind: 'allow' });
      return started;
    },
  });
});
