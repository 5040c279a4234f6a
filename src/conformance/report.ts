import type { Scenario } from './scenario.ts';
import type { ScenarioResult } from './verdict.ts';

/** One line of a conformance report, as `--json` prints it. */
export interface ReportRow {
  readonly name: string;
  readonly title: string;
  readonly rows: readonly string[];
  readonly result: 'held' | 'failed' | 'not_run';
  /** Why it failed, why it was not run, or what could not be looked at. */
  readonly why: string | null;
}

export interface Report {
  readonly side: 'runtime' | 'core';
  readonly results: readonly ReportRow[];
  readonly held: number;
  readonly failed: number;
  readonly not_run: number;
}

export function reportRow(scenario: Scenario, result: ScenarioResult): ReportRow {
  const { name, title, rows } = scenario;
  switch (result.kind) {
    case 'held':
      return { name, title, rows, result: 'held', why: result.note ?? null };
    case 'failed':
      return { name, title, rows, result: 'failed', why: `step ${result.step}: ${result.why}` };
    case 'not_run':
      return { name, title, rows, result: 'not_run', why: result.reason };
  }
}

export function report(side: Report['side'], results: readonly ReportRow[]): Report {
  const count = (result: ReportRow['result']): number =>
    results.filter((row) => row.result === result).length;
  return { side, results, held: count('held'), failed: count('failed'), not_run: count('not_run') };
}

const words = { held: 'held', failed: 'FAILED', not_run: 'not run' } as const;

/** What a person reads: a line for each scenario, failures last so that they stay in sight. */
export function reportText(done: Report): string {
  const order = { held: 0, not_run: 1, failed: 2 } as const;
  const width = Math.max(0, ...done.results.map((row) => row.name.length));
  const lines = [...done.results]
    .sort((a, b) => order[a.result] - order[b.result])
    .map((row) => {
      const why = row.why === null ? '' : `: ${row.why}`;
      const text =
        row.result === 'held'
          ? `${row.title}${row.why === null ? '' : ` (${row.why})`}`
          : `${row.title}${why}`;
      return `${words[row.result].padEnd(8)} ${row.name.padEnd(width)}  ${text}`;
    });
  return [...lines, '', `${done.held} held, ${done.failed} failed, ${done.not_run} not run`].join('\n');
}
