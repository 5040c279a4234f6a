/**
 * Deliberate breaks of the engine. Each replaces one exact text of one file and names the tests that have to notice:
 * files below `test/`. `says` is what the broken engine does wrong, in words of the contract.
 *
 * @typedef {{ readonly family: string, readonly says: string, readonly file: string, readonly find: string, readonly replace: string, readonly tests: readonly string[] }} Mutation
 */

const schedules = 'faults/schedules.test.ts';
const scenarios = 'contract/scenarios/runtime-side.test.ts';
const turn = 'unit/runtime/turn.test.ts';
const interactions = 'unit/runtime/interactions.test.ts';

/** @type {readonly Mutation[]} */
export const mutations = [
  {
    family: 'admissions',
    says: 'a repeated request is told its capacity before its conflict',
    file: 'src/runtime/admissions.ts',
    find: `      if (known.requestFingerprint !== requestFingerprint) return reject('request_conflict');
`,
    replace: `      if (!executors.canActivate) return reject('preparation_capacity');
      if (known.requestFingerprint !== requestFingerprint) return reject('request_conflict');
`,
    tests: [schedules, scenarios, turn],
  },
  {
    family: 'admissions',
    says: 'a start after the deadline is carried out',
    file: 'src/runtime/admissions.ts',
    find: `    if (this.#host.ports.clock.monotonic() >= admission.deadline) return this.#expire(admission);
`,
    replace: '',
    tests: [schedules, scenarios, turn],
  },
  {
    family: 'executors',
    says: 'an Executor serves a request with another configuration',
    file: 'src/runtime/executor-reuse.ts',
    find: `existing.environmentId !== environmentId || existing.fingerprint !== print`,
    replace: `existing.environmentId !== environmentId`,
    tests: [schedules, scenarios, turn],
  },
  {
    family: 'executors',
    says: 'an Executor that is not proven closed takes no place',
    file: 'src/runtime/executor-state.ts',
    find: `state.state !== 'idle' && state.state !== 'gone';`,
    replace: `state.state !== 'idle' && state.state !== 'gone' && state.state !== 'unconfirmed';`,
    tests: [schedules, scenarios, turn],
  },
  {
    family: 'executors',
    says: 'the most recently used idle Executor leaves first',
    file: 'src/runtime/executors.ts',
    find: `restedAs(a) - restedAs(b)`,
    replace: `restedAs(b) - restedAs(a)`,
    tests: [schedules, scenarios, turn],
  },
  {
    family: 'Turn end',
    says: 'done does not wait for the receipts of what was admitted',
    file: 'src/runtime/run.ts',
    find: `    await Promise.allSettled([...this.operations]);
`,
    replace: '',
    tests: [schedules, scenarios, interactions],
  },
  {
    family: 'Turn end',
    says: 'an Executor whose Turn says it is not reusable serves again',
    file: 'src/runtime/run.ts',
    find: `    } else if (settlement && !settlement.reusable) mustClose = true;
`,
    replace: `    }
`,
    tests: [schedules, scenarios, turn],
  },
  {
    family: 'cancellation',
    says: 'the first cancellation that fails lets the target go',
    file: 'src/runtime/run.ts',
    find: `this.#cause() === 'cancel' && attempt === 1`,
    replace: `this.#cause() === 'cancel' && attempt === 0`,
    tests: [schedules, scenarios, turn],
  },
  {
    family: 'cancellation',
    says: 'a cancellation is applied as soon as it was asked for',
    file: 'src/runtime/cancellation.ts',
    find: `within(this.#ports.clock, budgets.cancelReceipt, attempt)`,
    replace: `within(this.#ports.clock, budgets.cancelReceipt, Promise.resolve({ kind: 'settled' as const, outcome: { content: '' }, delivered: true }))`,
    tests: [schedules, scenarios, turn],
  },
  {
    family: 'active input',
    says: 'an input whose outcome is unknown is delivered again',
    file: 'src/runtime/steering.ts',
    find: `ack.error_code === 'not_ready' || ack.error_code === 'busy'`,
    replace: `ack.error_code === 'not_ready' || ack.error_code === 'busy' || ack.error_code === 'outcome_unknown'`,
    tests: [schedules, scenarios, turn],
  },
  {
    family: 'active input',
    says: 'accepted is told at the write',
    file: 'src/runtime/steering.ts',
    find: `    const result = await Promise.race([native, this.#runOver(run)]);
`,
    replace: `    const result: SteerResult = { kind: 'accepted' };
    void native;
`,
    tests: [schedules, scenarios, turn],
  },
  {
    family: 'interactions',
    says: 'two answers at the same time both reach the agent',
    file: 'src/runtime/interactions.ts',
    find: `    const before = await this.#whileDeciding(interaction);
    if (before === 'ended') return 'taken';
    if (!this.#apply(interaction, { type: 'decide', by, towards: endOf(answer) })) return 'taken';
`,
    replace: `    if (interaction.state.state === 'ended') return 'taken';
    this.#apply(interaction, { type: 'decide', by, towards: endOf(answer) });
`,
    tests: [schedules, scenarios, interactions],
  },
  {
    family: 'interactions',
    says: 'Core is not told that somebody else answered',
    file: 'src/runtime/interactions.ts',
    find: `      if (by !== 'core') this.#tellCore(interaction);
`,
    replace: '',
    tests: [schedules, scenarios, interactions],
  },
  {
    family: 'functions',
    says: 'an applied result that is repeated reaches the agent again',
    file: 'src/runtime/functions.ts',
    find: `      if (settled === 'applied') this.#applied.remember(key, print, run.id);
`,
    replace: `      void settled;
`,
    tests: [schedules, scenarios, 'unit/runtime/functions.test.ts'],
  },
  {
    family: 'functions',
    says: 'a result is submitted twice while the first submission is under way',
    file: 'src/runtime/functions.ts',
    find: `const result = pending?.result ?? this.#submit(run, payload, key, print());`,
    replace: `const result = this.#submit(run, payload, key, print());`,
    tests: [schedules, scenarios, 'unit/runtime/functions.test.ts'],
  },
  {
    family: 'transfers: read',
    says: 'reads go on while an earlier one is not proven closed',
    file: 'src/runtime/workspace-reads.ts',
    find: `    if (workspace.latch.uncertain) return reject('resource_unavailable');
`,
    replace: '',
    tests: [scenarios, 'unit/runtime/workspace-reads.test.ts'],
  },
  {
    family: 'transfers: write',
    says: 'a body that is not the one that was announced is written',
    file: 'src/runtime/body-transfer.ts',
    find: `init.sha256 !== '' && body?.digest() !== init.sha256`,
    replace: `init.sha256 === 'never' && body?.digest() !== init.sha256`,
    tests: [scenarios, 'unit/runtime/workspace-writes.test.ts'],
  },
  {
    family: 'transfers: write',
    says: 'a write whose outcome is unknown gives its place up',
    file: 'src/runtime/body-transfer.ts',
    find: `    this.#step({ type: 'unknown' });
    await this.#discard();
`,
    replace: `    this.#step({ type: 'end' });
    await this.#discard();
    this.#gone();
`,
    tests: [scenarios, 'unit/runtime/workspace-writes.test.ts'],
  },
  {
    family: 'transfers: export',
    says: 'an export is completed before what it opened was closed',
    file: 'src/runtime/workspace-exports.ts',
    find: `      await active.stream.close();
`,
    replace: `      void active.stream.close();
`,
    tests: [scenarios, 'unit/runtime/workspace-exports.test.ts'],
  },
  {
    family: 'suspension',
    says: 'another attempt than the one that suspended it resumes',
    file: 'src/runtime/suspension.ts',
    find: `a.environmentId === b.environmentId && a.suspendId === b.suspendId`,
    replace: `a.environmentId === b.environmentId`,
    tests: [scenarios, 'unit/runtime/suspension.test.ts'],
  },
  {
    family: 'suspension',
    says: 'quiesced is told although an idle Executor could not be closed',
    file: 'src/runtime/suspension.ts',
    find: `drained.kind === 'timeout' || !drained.value`,
    replace: `drained.kind === 'timeout'`,
    tests: [schedules, scenarios, 'unit/runtime/suspension.test.ts'],
  },
  {
    family: 'connection',
    says: 'the link dials beside what the lost connection still owns',
    file: 'src/connection/link.ts',
    find: `      if (outcome.kind === 'value' && outcome.value.kind === 'settled') break;
`,
    replace: `      if (outcome.kind === 'value') break;
`,
    tests: ['faults/chaos.test.ts', scenarios, 'unit/connection'],
  },
  {
    family: 'outbox',
    says: 'text merges across other frames',
    file: 'src/runtime/output-queue.ts',
    find: `      const head = this.#events[0];
      if (!head || head.type !== 'delta' || head.payload.item_id !== item) return text;
`,
    replace: `      const at = this.#events.findIndex((event) => event.type === 'delta' && event.payload.item_id === item);
      const [head] = at < 0 ? [] : this.#events.splice(at, 1);
      if (head?.type !== 'delta') return text;
      this.#events.unshift(head);
`,
    tests: [schedules, scenarios, 'unit/runtime/output-queue.test.ts', turn],
  },
  {
    family: 'outbox',
    says: 'a frame too large for the connection is sent',
    file: 'src/connection/link-sender.ts',
    find: `encoded.bytes > socketLimits.frameBytes`,
    replace: `encoded.bytes > 2 * socketLimits.frameBytes`,
    tests: ['unit/connection', scenarios],
  },
  {
    family: 'orphans',
    says: 'a native start does not wait for the ledger',
    file: 'src/ownership/process-ledger.ts',
    find: `        const replaced = await replaceFile(this.#file,`,
    replace: `        const replaced = "durable" as const; void replaceFile(this.#file,`,
    tests: ['unit/ownership/process-ledger.test.ts'],
  },
  {
    family: 'orphans',
    says: 'a process that has a pid of the ledger and another start time is ended',
    file: 'src/ownership/process-ledger.ts',
    find: `  startTime: entry.process?.startTime ?? null,
  owner`,
    replace: `  startTime: null,
  owner`,
    tests: ['unit/ownership/process-ledger.test.ts'],
  },
];
