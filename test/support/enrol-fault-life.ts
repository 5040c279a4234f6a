import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EnrolBed, environmentId } from './enrol-bed.ts';
import { FaultInjector, faultCodes, type Fault } from './fault-injector.ts';

/**
 * A process that enrols again and again, each time with one call to the system that fails, and then once more without.
 * Prints one line of JSON: how many calls there were, and what was wrong afterwards.
 */
const injector = new FaultInjector();
await injector.install();

const counted = await life(null);
const problems = counted.problems;
let injected = 0;
const faults = injector.calls
  .filter(({ occurrence }) => occurrence <= 3)
  .map(({ site, occurrence }, index): Fault => ({
    site,
    occurrence,
    code: faultCodes[index % faultCodes.length] ?? 'EIO',
  }));
for (const fault of faults) {
  const report = await life(fault);
  injected += report.injected;
  problems.push(
    ...report.problems.map((text) => `${fault.code} at ${fault.site} (${fault.occurrence}): ${text}`),
  );
}
process.stdout.write(`${JSON.stringify({ calls: faults.length, injected, problems })}\n`);
process.exit(0);

async function enrol(bed: EnrolBed): Promise<string> {
  const { id } = await bed.desk.read({ source: { kind: 'invitation', text: bed.command() } });
  const view = await bed.desk.confirm(id, 'project');
  return view.error === null ? view.state : `${view.error.code}: ${view.error.message}`;
}

async function life(fault: Fault | null): Promise<{ problems: string[]; injected: number }> {
  const found: string[] = [];
  const bed = await EnrolBed.make();
  await bed.credentials.choose('file');
  injector.begin(bed.home, fault ? [fault] : []);
  const first = await enrol(bed).catch((error: unknown) =>
    typeof error === 'object' && error && 'code' in error ? `refused ${String(error.code)}` : 'no sentence',
  );
  injector.active = false;
  const count = injector.injected.length;
  if (fault === null && first !== 'bound') found.push(`without a fault: ${first}`);
  if (/^(fault:|no sentence|refused E)/.test(first)) found.push(`not told in words: ${first}`);
  const { receipts, unreadable } = await bed.receipts.list();
  if (unreadable.length > 0) found.push('a receipt that cannot be read');
  if ((first === 'bound') !== (bed.served.length === 1)) found.push('told and served differ');
  if (first === 'bound' && receipts.length !== 1) found.push('bound without a receipt');
  // The same command once more, after a restart and without a fault.
  const again = await bed.restart();
  const second = await enrol(again).catch((error: unknown) => String(error));
  if (second !== 'bound') found.push(`the second try: ${second}`);
  const kept = await again.credentials.get(again.account);
  const secret = kept.kind === 'ok' ? kept.value : null;
  if (secret === null) found.push('no secret is kept');
  else if (!bed.core.authority.boundDevice(environmentId, secret).ok)
    found.push('another secret than Core’s is kept');
  const left = (await readdir(join(bed.state, 'environments', environmentId))).filter((name) =>
    name.endsWith('.tmp'),
  );
  // What could not be unlinked is a copy of the receipt, and no secret.
  if (left.length > 0 && !fault?.site.startsWith('unlink')) found.push(`left behind: ${left.join(' ')}`);
  const receipt = await readFile(join(bed.state, 'environments', environmentId, 'environment.json'), 'utf8');
  if (secret !== null && receipt.includes(secret)) found.push('the receipt holds the secret');
  await bed.close();
  return { problems: found, injected: count };
}
