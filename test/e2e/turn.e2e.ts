import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { DesktopBed } from './app.ts';

test('a Turn with the real Claude Code: permission by a click, question by keyboard, the file on disk', async () => {
  const bed = await DesktopBed.open({ claude: true });
  try {
    const { window, model } = bed;
    await expect(window.getByRole('heading', { name: 'What should the agent do?' })).toBeVisible();
    await bed.picture('first-run');
    model?.setScenario([
      {
        steps: [
          { think: 'A file is wanted.' },
          { text: 'I will write the file.' },
          {
            tool: 'Write',
            id: 'toolu_w',
            input: { file_path: join(bed.workspace, 'notes.txt'), content: 'hello from the agent\n' },
          },
        ],
      },
      {
        steps: [
          {
            tool: 'AskUserQuestion',
            id: 'toolu_q',
            input: {
              questions: [
                {
                  question: 'Which color?',
                  header: 'Color',
                  multiSelect: false,
                  options: [
                    { label: 'Red', description: 'warm' },
                    { label: 'Blue', description: 'cold' },
                  ],
                },
                {
                  question: 'Which sizes?',
                  header: 'Sizes',
                  multiSelect: true,
                  options: [
                    { label: 'Small', description: '' },
                    { label: 'Large', description: '' },
                  ],
                },
              ],
            },
          },
        ],
      },
      { steps: [{ text: 'All done.' }] },
    ]);
    await bed.startTurn('Write the notes');

    // The permission: its whole change is shown, and a click allows it once.
    await expect(window.getByRole('link', { name: /1 prompt needs you/ })).toBeVisible();
    await bed.picture('turn');
    await window.keyboard.press('Control+1');
    await expect(window.getByRole('heading', { name: '1 prompt needs you' })).toBeVisible();
    await bed.picture('home');
    await window.keyboard.press('F6');
    const allow = window.getByRole('button', { name: 'Allow once' });
    await expect(allow).toBeVisible();
    await expect(window.getByText('hello from the agent')).toBeVisible();
    await bed.picture('permission');
    await expect(allow).not.toHaveAttribute('aria-disabled', 'true');
    expect(existsSync(join(bed.workspace, 'notes.txt'))).toBe(false);
    await window.waitForTimeout(600); // nothing acts in the first half second
    await allow.click();

    // The question, by keyboard alone.
    await expect(window.getByText('Answer 2 questions').first()).toBeVisible();
    await window.keyboard.press('F6');
    await expect(window.getByText('Which color?')).toBeVisible();
    expect(await bed.read('notes.txt')).toBe('hello from the agent\n');
    await bed.picture('question');
    await window.waitForTimeout(600);
    await window.getByRole('radio', { name: /Blue/ }).focus();
    await window.keyboard.press('Space');
    await window.getByRole('checkbox', { name: /Small/ }).focus();
    await window.keyboard.press('Space');
    await window.keyboard.press('Control+Enter');

    await expect
      .poll(async () =>
        (await bed.view()).history.filter((entry) => entry.kind === 'turn').map((entry) => entry.outcome),
      )
      .toEqual(['completed']);
    const view = await bed.view();
    expect(view.history.map(({ kind, outcome, decided_by }) => [kind, outcome, decided_by])).toEqual([
      ['permission', 'allowed', 'person'],
      ['user_choice', 'answered', 'person'],
      ['turn', 'completed', null],
    ]);
    expect(JSON.stringify(model?.calls.at(-1)?.body)).toContain('Blue');
    expect(view.cleanup).toEqual([]);
    await window.keyboard.press('Control+2');
    await bed.picture('turns');
  } finally {
    await bed.close();
  }
});

test('within three clicks the demo runs a Turn, and the terminal answers what the window shows', async () => {
  const bed = await DesktopBed.open();
  try {
    const { window } = bed;
    await window.getByRole('button', { name: /Try the demo agent/ }).click();
    const start = window.getByRole('button', { name: 'Start Turn' });
    if (await start.isEnabled().catch(() => false)) await start.click();
    await expect
      .poll(async () => (await bed.view()).interactions.map((prompt) => prompt.kind))
      .toEqual(['user_choice']);
    await bed.picture('demo-question');
    const question = (await bed.view()).interactions[0];
    const declined = await bed.cli('answer', question?.id ?? '', '--cancel');
    expect(declined.code).toBe(0);
    await expect
      .poll(async () => (await bed.view()).interactions.map((prompt) => prompt.kind))
      .toEqual(['permission']);
    const permission = (await bed.view()).interactions[0];
    expect((await bed.cli('answer', permission?.id ?? '', '--allow')).code).toBe(0);
    // The second answer of two is told the truth.
    const late = await bed.cli('answer', permission?.id ?? '', '--deny', '--json');
    expect(late.code).toBe(1);
    expect(JSON.parse(late.stdout)).toMatchObject({ error: { code: 'already_decided' } });
    await expect.poll(async () => (await bed.view()).history.at(-1)?.outcome).toBe('completed');
    expect(existsSync(join(bed.workspace, 'agent-runtime-demo.md'))).toBe(true);
    await bed.picture('demo-turn');
  } finally {
    await bed.close();
  }
});
