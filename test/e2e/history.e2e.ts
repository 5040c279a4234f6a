import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { checkHistory } from '../../src/conformance/history-checker.ts';
import { historyText } from '../../src/conformance/history.ts';
import { DesktopBed } from './app.ts';
import { RecordedCore } from './recorded-core.ts';

test('what a Core outside saw of the packaged app holds against the history checker', async () => {
  const bed = await DesktopBed.open();
  const core = await RecordedCore.start();
  try {
    const folder = join(await realpath(bed.home), 'outside');
    await mkdir(folder);
    const { endpoint, grant } = core.invite(folder);
    const grantFile = join(await realpath(bed.home), 'grant');
    await writeFile(grantFile, grant, { mode: 0o600 });
    const connected = core.heartbeat();
    const enrolled = await bed.cli(
      ...['enroll', '--endpoint', endpoint, '--grant-file', grantFile, '--store', 'file'],
    );
    expect(enrolled.code, enrolled.stderr).toBe(0);
    await connected;

    // A whole Turn: the person answers the question, Core the permission, and Core's repeat is only acknowledged.
    await core.startTurn('first');
    const asked = await core.next('prompt_for_user_choice', 'first');
    const answered = await bed.cli('answer', String(asked.payload['ask_id']), '--cancel');
    expect(answered.code, answered.stderr).toBe(0);
    const permission = String((await core.next('permission_request', 'first')).payload['request_id']);
    const decide = (delivery: string): Promise<unknown> => {
      core.say('permission_decision', permission, { delivery_id: delivery, approved: true });
      return core.next('interaction_decision_ack', permission, { delivery_id: delivery, applied: true });
    };
    await decide('allow');
    await decide('allow-again').catch(() => undefined);
    await core.next('done', 'first');
    // What the Runtime wrote down of it says the same.
    await expect
      .poll(async () =>
        (await bed.view()).history.map((entry) => [entry.kind, entry.outcome, entry.decided_by]),
      )
      .toEqual([
        ['user_choice', 'cancelled', 'person'],
        ['permission', 'allowed', 'core'],
        ['turn', 'completed', null],
      ]);

    // A cancellation is answered after the end.
    await core.startTurn('second');
    await core.next('prompt_for_user_choice', 'second');
    core.say('prompt_cancel', 'second', { delivery_id: 'cancel:second' });
    await core.next('interaction_decision_ack', 'second', { delivery_id: 'cancel:second', applied: true });

    // A lost connection invents no end, and the next one serves.
    await core.startTurn('third');
    await core.next('prompt_for_user_choice', 'third');
    const again = core.heartbeat();
    core.drop();
    await again;
    await core.startTurn('fourth');
    await core.next('prompt_for_user_choice', 'fourth');

    // The app ends with a Turn at work.
    const gone = new Promise<number | null>((done) => bed.process.once('exit', (code) => done(code)));
    bed.process.kill('SIGTERM');
    expect(await gone).toBe(0);
    const { events } = core.history;
    expect(checkHistory(events), historyText(events)).toEqual([]);
    const heard = events
      .filter((event) => event.does === 'hears')
      .map(({ frame }) => `${frame.type} ${frame.id}`);
    expect(heard.filter((line) => line.startsWith('done'))).toEqual(['done first', 'done second']);
    expect(core.textOf('first')).toContain('This is a demo without a model');
  } finally {
    await bed.close();
    await core.close();
  }
});
