// @vitest-environment happy-dom
import { act, fireEvent } from '@testing-library/react';
import { expect, test } from 'vitest';
import { buttonNamed, renderWindow } from '../../support/render-window.tsx';
import { scenarios } from '../../support/renderer-fixture/scenarios.ts';

test('folder work shows its step, how far it is and for how long; what passes in a moment is not shown', async () => {
  const scenario = scenarios['home-transfers'];
  if (!scenario) throw new Error('no scenario');
  const window = await renderWindow(scenario);
  const rows = [...document.querySelectorAll('[aria-labelledby="h-transfers"] li')].map(
    (row) => row.textContent,
  );
  expect(rows).toHaveLength(2);
  expect(rows[0]).toContain('Preparing: npm packages');
  expect(rows[0]).toContain('at work · 1:13');
  expect(rows[1]).toContain('18 MB of 52 MB');
  await act(async () => void fireEvent.click(buttonNamed(/^Stop: /)));
  expect(window.calls.filter(({ name }) => name === 'transfer.stop')).toMatchObject([
    { request: { id: 't1' } },
  ]);
});
