import { expect, test } from 'vitest';

import { buildEnvironment, joinSearchPaths } from '../../../../src/harness/process/environment.ts';

test('only listed names pass, a star stands for any ending', () => {
  const environment = buildEnvironment({
    from: { PATH: '/bin', LC_TIME: 'C', SECRET_TOKEN: 's', ANTHROPIC_API_KEY: 'k', GONE: undefined },
    inherit: ['ANTHROPIC_*'],
  });
  expect(environment).toEqual({ PATH: '/bin', LC_TIME: 'C', ANTHROPIC_API_KEY: 'k' });
});

test('what is set wins over what is inherited, and undefined removes', () => {
  const environment = buildEnvironment({
    from: { PATH: '/bin', HOME: '/home/a', TERM: 'xterm' },
    set: [
      { PATH: '/opt', NEW: '1' },
      { TERM: undefined, NEW: '2' },
    ],
  });
  expect(environment).toEqual({ PATH: '/opt', HOME: '/home/a', NEW: '2' });
});

test('search paths keep their order and name each folder once', () => {
  expect(joinSearchPaths(':', '/a:/b', undefined, '/b::/c')).toBe('/a:/b:/c');
});
