import { describe, expect, test } from 'vitest';

import { claude, claudeBed } from '../bed.ts';

describe('many Turns in one conversation', () => {
  test.skipIf(claude === null)('two hundred of them, and nothing grows', { timeout: 180_000 }, async () => {
    const bed = await claudeBed();
    try {
      bed.model.setScenario([{ steps: [{ text: 'x' }], repeat: true }]);
      const executor = await bed.ready();
      const handles = (): number => process.getActiveResourcesInfo().length;
      let after = 0;
      for (let turn = 0; turn < 200; turn++) {
        const { output, turn: done } = await bed.run(executor, 'Go');
        expect(output.text).toBe('x');
        expect(await done.settlement()).toEqual({ kind: 'settled', reusable: true });
        if (turn === 20) after = handles();
      }
      expect(handles()).toBeLessThanOrEqual(after + 2);
      expect(bed.ledger.entries).toHaveLength(1);
    } finally {
      await bed.close();
    }
  });
});
