import { expect, test } from '@playwright/test';
import { DesktopSession } from '../support/desktop-session.ts';
import { DesktopBed, until } from './app.ts';

let desktop: DesktopSession;
let bed: DesktopBed;

test.beforeEach(async () => {
  desktop = await DesktopSession.start();
  bed = await DesktopBed.open({ env: desktop.env, claude: true });
  await desktop.panel.item();
});
test.afterEach(async () => {
  await bed.close();
  await desktop.close();
});

/** One command after the other, each asking first. */
const commands = (...texts: string[]) => [
  ...texts.map((command, at) => ({
    steps: [{ tool: 'Bash', id: `toolu_${at}`, input: { command, description: 'secret-plan' } }],
  })),
  { steps: [{ text: 'All done.' }] },
];

const outcomes = async (): Promise<(string | null)[][]> =>
  (await bed.view()).history
    .filter(({ kind }) => kind !== 'turn')
    .map(({ outcome, decided_by }) => [outcome, decided_by]);

/** Waits for as long as no button acts. */
const halfSecond = (): Promise<void> => new Promise((done) => setTimeout(done, 600));

test('it says the kind and the binding alone, opens its prompt, denies, and is taken back', async () => {
  const { notifications } = desktop;
  bed.model?.setScenario(commands('touch secret-one.txt', 'touch secret-two.txt', 'touch secret-three.txt'));
  await bed.closeWindow();
  await bed.cli('turn', 'start', '--detach', 'secret-task');
  const [first] = await notifications.when((open) => open.length === 1);
  expect(first).toMatchObject({
    title: 'local needs you',
    body: 'A command waits for your answer',
    actions: ['default', 'deny'],
  });

  // A button that has just appeared decides nothing; half a second later it does.
  notifications.signalAction(first?.id ?? 0, 'deny');
  await bed.view();
  expect(await outcomes()).toEqual([]);
  await halfSecond();
  notifications.act(first?.id ?? 0, 'deny');
  const [second] = await notifications.when((open) => open.some(({ id }) => id !== first?.id));
  expect(await outcomes()).toEqual([['denied', 'person']]);

  // A click opens exactly this prompt and decides nothing.
  const waiting = (await bed.view()).interactions[0]?.id ?? '';
  const opened = bed.app.waitForEvent('window');
  notifications.act(second?.id ?? 0, 'default');
  bed.window = await opened;
  await expect(bed.window.getByRole('button', { name: 'Allow once' })).toBeVisible();
  await expect(bed.window.getByText('touch secret-two.txt').first()).toBeVisible();
  // The window was made for it: Home was no step on the way.
  expect(await bed.window.evaluate(() => [history.length, location.hash])).toEqual([
    1,
    `#/prompt/${waiting}`,
  ]);
  expect((await bed.view()).interactions.map(({ id }) => id)).toEqual([waiting]);

  // Decided elsewhere: what is shown of it goes away.
  await bed.closeWindow();
  await bed.cli('answer', waiting, '--allow');
  await notifications.when((open) => open.length === 1 && open[0]?.id !== second?.id);
  const third = await until(async () => (await bed.view()).interactions[0]?.id ?? null, 'the third');
  await bed.cli('answer', third, '--deny');
  await notifications.when((open) => open.length === 0);
  expect(await outcomes()).toEqual([
    ['denied', 'person'],
    ['allowed', 'person'],
    ['denied', 'person'],
  ]);
  for (const { sent } of notifications.seen) expect(sent).not.toMatch(/secret|touch|\/tmp/);
});

test('several become one without a button, and what is left of them is said anew', async () => {
  const { notifications } = desktop;
  await bed.closeWindow();
  for (let turn = 0; turn < 3; turn += 1)
    await bed.cli('turn', 'start', '--detach', '--harness', 'demo', 'Show me');
  const [all] = await notifications.when((open) => open[0]?.body === '3 prompts need you');
  expect(all).toMatchObject({ title: 'Agent Runtime', actions: ['default'] });
  expect(notifications.open).toHaveLength(1);
  const [one] = (await bed.view()).interactions;
  await bed.cli('turn', 'cancel', one?.run_id ?? '');
  await notifications.when((open) => open.length === 1 && open[0]?.body === '2 prompts need you');
  const [left] = notifications.open;
  expect(left?.actions).toEqual(['default']);
  const shows = bed.app.waitForEvent('window');
  notifications.act(left?.id ?? 0, 'default');
  bed.window = await shows;
  await expect(bed.window.getByRole('heading', { name: '2 prompts need you' })).toBeVisible();
  await bed.picture('several-prompts');
});

test('a daemon that refuses or is gone loses no prompt: it waits in the tray and the window', async () => {
  const { notifications } = desktop;
  bed.model?.setScenario(commands('touch refused.txt'));
  notifications.refuses = true;
  await bed.closeWindow();
  await bed.cli('turn', 'start', '--detach', 'Run it');
  await expect
    .poll(async () => (await desktop.panel.icon()).tooltip)
    .toBe('Agent Runtime: 1 prompt needs you');
  await expect.poll(async () => (await bed.cli('logs')).stdout).toContain('notification.failed');
  expect(notifications.seen).toEqual([]);
  expect((await bed.view()).interactions).toHaveLength(1);

  notifications.close();
  await bed.cli('turn', 'start', '--detach', '--harness', 'demo', 'Show me');
  await expect
    .poll(async () => (await desktop.panel.icon()).tooltip)
    .toBe('Agent Runtime: 2 prompts need you');
  const opened = bed.app.waitForEvent('window');
  await desktop.panel.click();
  bed.window = await opened;
  await expect(bed.window.getByRole('heading', { name: '2 prompts need you' })).toBeVisible();
});
