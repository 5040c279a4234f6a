import { execFileSync } from 'node:child_process';

/** A scripted model that runs one command which does not end. */
export const stuck = [
  {
    steps: [
      { text: 'Working.' },
      {
        tool: 'Bash',
        id: 'toolu_s',
        input: { command: 'touch started.txt; sleep 1000', description: 'waits' },
      },
    ],
  },
];

/** Whether a process of a test still runs; its command line is the only thing that tells it from others. */
export function running(text: string): boolean {
  const lines = execFileSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8' }).split('\n');
  return lines.some((line) => line.includes(text) && !line.startsWith('Z') && !line.includes('ps -eo'));
}
