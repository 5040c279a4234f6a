import type { Clock } from '../platform/clock.ts';
import { playCore, type CoreControl, type CoreSubject } from './core-player.ts';
import { report, reportRow, type Report, type ReportRow } from './report.ts';
import { NoSubject } from './runtime-conformance.ts';
import type { OperatorStep, Scenario } from './scenario.ts';
import { bootstrapAt, type CoreAddress } from './scripted-runtime.ts';
import { SubjectProcess } from './subject-process.ts';

export interface CoreConformanceOptions {
  readonly clock: Clock;
  readonly scenarios: readonly Scenario[];
  readonly address: CoreAddress;
  readonly kind: string;
  readonly patience: number;
  /** Makes Core act: `{action}` is submit, cancel, steer or answer. Null: Core acts by itself or not at all. */
  readonly command: readonly string[] | null;
  readonly env: Readonly<Record<string, string>>;
  readonly verbose: boolean;
  onRow(row: ReportRow): void;
}

/**
 * Replays the Core side of every scenario, one after the other: a device has one connection.
 * @throws NoSubject when Core cannot be reached.
 */
export async function conformCore(options: CoreConformanceOptions): Promise<Report> {
  const bootstrap = await bootstrapAt(options.address);
  if (bootstrap.kind === 'failed')
    throw new NoSubject(`Core could not be reached (${bootstrap.why}). Check the address.`);
  if (bootstrap.kind === 'refused' && bootstrap.status !== 426)
    throw new NoSubject(
      `Core refused the bootstrap (${bootstrap.status} ${bootstrap.error}). Check the device id and its credential.`,
    );
  const subject: CoreSubject = {
    clock: options.clock,
    address: options.address,
    kind: options.kind,
    patience: options.patience,
    control: options.command ? commandControl(options, options.command) : null,
    idle: new Set(),
  };
  const rows: ReportRow[] = [];
  for (const scenario of options.scenarios) {
    const row = reportRow(scenario, await playCore(scenario, subject));
    rows.push(row);
    options.onRow(row);
  }
  return report('core', rows);
}

/** The user's own program as the operator of Core. What Core records stays out of sight. */
function commandControl(options: CoreConformanceOptions, command: readonly string[]): CoreControl {
  return {
    turn: null,
    advance: null,
    operate: async (step) => {
      if (step.do === 'answered') return null;
      const child = new SubjectProcess({
        clock: options.clock,
        command,
        values: valuesOf(step),
        env: options.env,
        cwd: process.cwd(),
        verbose: options.verbose,
      });
      const how = await child.exited(options.patience);
      if (how === null) await child.stop();
      return how === 'it ended with the exit code 0'
        ? null
        : `the command for ${step.do} did not work: ${how ?? 'it did not end'}`;
    },
  };
}

function valuesOf(step: Exclude<OperatorStep, { do: 'answered' }>): Record<string, string> {
  switch (step.do) {
    case 'submit':
      return { action: 'submit', text: step.prompt, interaction_id: '', decision: '' };
    case 'cancel':
      return { action: 'cancel', text: '', interaction_id: '', decision: '' };
    case 'steer':
      return { action: 'steer', text: step.text, interaction_id: '', decision: '' };
    case 'answer':
      return {
        action: 'answer',
        text: '',
        interaction_id: step.interaction,
        decision: JSON.stringify(step.decision),
      };
  }
}
