import { expect, test } from 'vitest';
import { desktopOptions, linkIn } from '../../../electron/options.ts';

const link = 'agent-runtime://enroll?endpoint=https%3A%2F%2Fcore.example.com&grant=a.b';

test('a link is found wherever a system puts it among the arguments', () => {
  for (const args of [
    [link],
    ['--no-sandbox', '--state-dir=/s', link],
    ['--hidden', link, '--allow-file-access'],
  ])
    expect(desktopOptions(args, '/')).toMatchObject({ link });
  expect(desktopOptions(['--state-dir', '/s', '--hidden', link], '/')).toMatchObject({
    ...{ stateDir: '/s', hidden: true, link },
  });
});

test('what is no link of ours is none', () => {
  for (const other of [
    'https://core.example.com/agent-runtime://enroll',
    `x${link}`,
    'agent-runtime:enroll',
    `${link}${'a'.repeat(20_000)}`,
    7,
    null,
  ])
    expect(linkIn([other]), String(other).slice(0, 40)).toBeNull();
  expect(linkIn([])).toBeNull();
});

test('of several the first is taken', () => {
  expect(linkIn([link, 'agent-runtime://enroll?grant=other'])).toBe(link);
});
