import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { RuntimeError, fault, rejected } from '../observe/errors.ts';
import { identifyProcess, isRunning } from '../platform/process-identity.ts';
import type { Random } from '../platform/random.ts';
import { codeOf, privateFolder } from './atomic-file.ts';

const holderSchema = z.object({ pid: z.number().int(), startTime: z.string(), bootId: z.string() });

/**
 * One Runtime per state folder. The holder is named by pid, start time and boot, so that a recycled pid, a crash or a
 * restart of the machine never locks anybody out, and a sleeping machine never loses its lock to a timeout.
 */
export class InstanceLock {
  readonly #path: string;
  readonly #text: string;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  /** @throws RuntimeError `already_running` when another live process holds it, `storage` when the disk says no. */
  static async acquire(path: string, random: Random): Promise<InstanceLock> {
    await privateFolder(dirname(path));
    try {
      return await InstanceLock.#acquire(path, random);
    } catch (error) {
      if (error instanceof RuntimeError) throw error;
      const why = codeOf(error) === 'ENOSPC' ? 'The disk is full' : 'It cannot be written';
      throw fault(
        'storage',
        `The state folder ${dirname(path)} is not usable. ${why}: make room or name another one.`,
        error,
      );
    }
  }

  static async #acquire(path: string, random: Random): Promise<InstanceLock> {
    const self = await identifyProcess(process.pid);
    if (!self) throw fault('fault', 'This process could not identify itself.');
    const text = JSON.stringify(self);
    const mine = join(dirname(path), `.lock.${random.hex(6)}`);
    try {
      await writeFile(mine, text, { flag: 'wx', mode: 0o600 });
      for (let attempt = 0; attempt < 5; attempt++) {
        try {
          await link(mine, path);
          return new InstanceLock(path, text);
        } catch (error) {
          if (codeOf(error) !== 'EEXIST') throw error;
        }
        const found = await readFile(path, 'utf8').catch((error: unknown) => {
          if (codeOf(error) === 'ENOENT') return null;
          throw error;
        });
        if (found === null) continue;
        const holder = holderSchema.safeParse(parse(found));
        if (holder.success && (await isRunning(holder.data))) {
          throw rejected(
            'already_running',
            `Agent Runtime is already running here (process ${holder.data.pid}).`,
          );
        }
        // Whoever renames the stale file first goes on; what was renamed is looked at again before it is dropped.
        const stale = `${mine}.stale`;
        await rename(path, stale).catch(() => undefined);
        if ((await readFile(stale, 'utf8').catch(() => null)) !== found) {
          await link(stale, path).catch(() => undefined);
        }
        await unlink(stale).catch(() => undefined);
      }
      throw rejected('already_running', 'Another start of Agent Runtime is under way here.');
    } finally {
      await unlink(mine).catch(() => undefined);
    }
  }

  async release(): Promise<void> {
    if ((await readFile(this.#path, 'utf8').catch(() => null)) === this.#text) {
      await unlink(this.#path).catch(() => undefined);
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
