import { mkdir, mkdtemp, readFile, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { AuditLog } from '../../../src/observe/audit.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('what the disk refuses waits in its order, is written once the disk takes it, and that is told', async () => {
  const path = join(folder, 'history.jsonl');
  // A folder in the place of the file: whatever is written there fails.
  await mkdir(path);
  const told: string[] = [];
  const log = new AuditLog(
    path,
    z.string(),
    () => void told.push('failed'),
    () => void told.push('written'),
  );
  log.append('one');
  log.append('two');
  await log.flushed();
  expect(told).toEqual(['failed', 'failed']);
  log.retry();
  await log.flushed();
  expect(told).toEqual(['failed', 'failed', 'failed']);
  await rmdir(path);
  log.append('three');
  await log.flushed();
  expect(told.at(-1)).toBe('written');
  expect((await log.load()).entries).toEqual(['one', 'two', 'three']);
  log.append('four');
  await log.flushed();
  expect(told.filter((word) => word === 'written')).toHaveLength(1);
  expect((await readFile(path, 'utf8')).match(/one/g)).toHaveLength(1);
});
