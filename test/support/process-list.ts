import { readdir, readFile } from 'node:fs/promises';

/** Arguments and environment of every process of this machine that we may read, as one text each (Linux). */
export async function readProcesses(): Promise<{ readonly args: string; readonly environment: string }[]> {
  const own = `/proc/${process.pid}`;
  const found = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || `/proc/${name}` === own) continue;
    const args = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
    found.push({ args, environment });
  }
  return found;
}
