import { expect, test } from 'vitest';
import { configSchema } from '../../../src/app/config.ts';

test.each([
  ['https://updates.example.com/app/', true],
  ['http://127.0.0.1:8080/', true],
  ['http://localhost/', true],
  ['http://[::1]:9/', true],
  // Whoever is on the way could choose the program that is installed.
  ['http://updates.example.com/app/', false],
  ['http://127.0.0.1.example.com/', false],
  ['ftp://updates.example.com/', false],
  ['file:///tmp/feed', false],
  ['updates.example.com', false],
])('a feed at %s: %s', (feed, good) => {
  expect(configSchema.safeParse({ updates: { feed } }).success).toBe(good);
});
