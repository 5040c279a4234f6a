import { expect, test } from '@playwright/test';
import { DesktopBed, until } from './app.ts';

/** What crosses the real bridge between the daemon and the window. */
interface Crossing {
  /** Numbers of the journal entries that each page load was sent. */
  readonly loads: readonly (readonly number[])[];
  readonly readBytes: number;
  readonly viewBytes: number;
  /** Views that held words of the Turn's output. */
  readonly viewsWithOutput: number;
}

/** Words that the demo streams. */
const words = 'This is a demo without a model';

/** Counts in the main process, behind the only door that there is. */
async function count(bed: DesktopBed): Promise<() => Promise<Crossing>> {
  await bed.app.evaluate(({ ipcMain, webContents }, said) => {
    const crossing = { loads: [[]] as number[][], readBytes: 0, viewBytes: 0, viewsWithOutput: 0 };
    Object.assign(globalThis, { crossing });
    const channel = 'agent-runtime:command';
    const handlers = Reflect.get(ipcMain, '_invokeHandlers') as Map<
      string,
      (event: object, ...args: unknown[]) => Promise<unknown>
    >;
    const handle = handlers.get(channel);
    if (!handle) throw new Error('no handler');
    handlers.set(channel, async (event, name, ...rest) => {
      const take = (answer: unknown): void => {
        if (name !== 'turn.read') return;
        crossing.readBytes += JSON.stringify(answer).length;
        const { answer: given } = answer as { answer?: { entries: { n: number }[] } };
        crossing.loads.at(-1)?.push(...(given?.entries ?? []).map((entry) => entry.n));
      };
      // Older Electrons hand the answer over themselves.
      const reply: unknown = Reflect.get(event, '_reply');
      if (typeof reply === 'function')
        Reflect.set(event, '_reply', (answer: unknown) => {
          take(answer);
          Reflect.apply(reply, event, [answer]);
        });
      const answer = await handle(event, name, ...rest);
      if (typeof reply !== 'function') take(answer);
      return answer;
    });
    const [contents] = webContents.getAllWebContents();
    if (!contents) throw new Error('no window');
    contents.on('did-navigate', () => crossing.loads.push([]));
    const send = contents.send.bind(contents);
    contents.send = (to: string, ...args: unknown[]) => {
      if (to === 'agent-runtime:view') {
        const text = JSON.stringify(args);
        crossing.viewBytes += text.length;
        if (text.includes(said)) crossing.viewsWithOutput += 1;
      }
      send(to, ...args);
    };
  }, words);
  return () => bed.app.evaluate(() => (globalThis as unknown as { crossing: Crossing }).crossing);
}

test('no entry of a Turn crosses to a page twice, and a reload at any moment loses nothing', async () => {
  const bed = await DesktopBed.open();
  try {
    const crossed = await count(bed);
    await bed.startTurn('Show me what a Turn looks like.');
    const stream = bed.window.getByRole('log');
    await expect(stream).toBeVisible();
    const hash = await bed.window.evaluate(() => location.hash);
    // While it streams, again at once, and while a prompt waits.
    await bed.window.reload();
    await bed.window.reload();
    await expect(stream).toBeVisible();
    const prompt = (kind: string): Promise<string> =>
      until(
        async () => (await bed.view()).interactions.find((open) => open.kind === kind)?.id ?? null,
        `a prompt: ${kind}`,
      );
    const question = await prompt('user_choice');
    await bed.window.reload();
    await expect(stream).toContainText(words);
    expect((await bed.cli('answer', question, '--cancel')).code).toBe(0);
    const permission = await prompt('permission');
    await bed.window.evaluate(() => void (location.hash = '#/history'));
    await bed.window.evaluate((to) => void (location.hash = to), hash);
    await expect(stream).toContainText(words);
    expect((await bed.cli('answer', permission, '--deny')).code).toBe(0);
    await until(async () => ((await bed.view()).turns.length === 0 ? true : null), 'the end of the Turn');
    await expect(stream.locator('.stream-end')).toBeVisible();
    const shown = await stream.innerText();
    await bed.window.reload();
    await expect(stream).toBeVisible();
    await expect.poll(() => stream.innerText()).toBe(shown);

    const { loads, readBytes, viewBytes, viewsWithOutput } = await crossed();
    expect(loads.length).toBeGreaterThan(4);
    for (const numbers of loads) expect(numbers).toEqual([...new Set(numbers)]);
    // The last page read all of it, from the first to the last, without a gap.
    const last = loads.at(-1) ?? [];
    expect(last).toEqual(Array.from({ length: last.length }, (_, n) => n));
    expect(last.length).toBeGreaterThan(10);
    expect(viewsWithOutput).toBe(0);
    console.log(`${readBytes} bytes of journal and ${viewBytes} of views over ${loads.length} page loads`);
  } finally {
    await bed.close();
  }
});
