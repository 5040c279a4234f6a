// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { logLines } from '../../../renderer/select/log-lines.ts';
import { buttonNamed, renderWindow, type TestWindow } from '../../support/render-window.tsx';
import { scenarios } from '../../support/renderer-fixture/scenarios.ts';

const press = (name: string): Promise<void> => act(async () => void fireEvent.click(buttonNamed(name)));
async function open(name: string): Promise<TestWindow> {
  const scenario = scenarios[name];
  if (!scenario) throw new Error(`no scenario ${name}`);
  return renderWindow(scenario);
}
const record = (): string => document.querySelector('.record')?.textContent ?? '';
const saved = (window: TestWindow): unknown[] =>
  window.calls.filter(({ name }) => name === 'saveText').map(({ request }) => request);

test('the log is filtered by words and by level, and saved whole', async () => {
  const window = await open('doctor-log');
  await press('Log');
  expect(record().split('\n')).toHaveLength(4);
  await press('Warnings');
  expect(record()).not.toContain('info');
  await act(async () =>
    fireEvent.change(screen.getByLabelText('Only lines with'), { target: { value: 'DOCS' } }),
  );
  expect(record().split('\n')).toHaveLength(1);
  await act(async () =>
    fireEvent.change(screen.getByLabelText('Only lines with'), { target: { value: 'zzz' } }),
  );
  expect(document.body.textContent).toContain('No line fits.');
  await press('Save as a file…');
  expect(saved(window)).toMatchObject([
    { name: 'agent-runtime.log', text: expect.stringContaining('link.serving') },
  ]);
});

test('the diagnostics are read before they are saved, and what is saved is what was read', async () => {
  const window = await open('doctor-log');
  await press('Diagnostics');
  expect(record()).toContain('"wire_version": "0.10.0"');
  expect(saved(window)).toEqual([]);
  await press('Save as a file…');
  expect(saved(window)).toMatchObject([{ name: 'agent-runtime-diagnostics.json', text: `${record()}\n` }]);
});

test('the history is saved as lines, all that is kept of it', async () => {
  const window = await open('history');
  await press('Save as a file…');
  const [request] = saved(window) as { text: string }[];
  const lines = (request?.text ?? '').trim().split('\n');
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('outcome');
});

test('of a long log only the newest lines are drawn', () => {
  const all = Array.from({ length: 5_000 }, (_, n) => `t info line n=${n}`);
  const { lines, found } = logLines(all, { filter: '', level: 'all' });
  expect([lines.length, found, lines.at(-1)]).toEqual([1_000, 5_000, 't info line n=4999']);
});
