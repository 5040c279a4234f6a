import type { InteractionView } from '../contract/view.ts';

/** Everything that is asked for, line by line: the command, the whole change, the whole input. */
export function wholeInput(prompt: InteractionView): string[] {
  const { subject } = prompt;
  switch (subject.kind) {
    case 'command':
      return [...subject.command.split('\n'), ...(subject.cwd === null ? [] : [`in ${subject.cwd}`])];
    case 'file_change':
      return subject.changes.flatMap((change) => [
        `${change.kind} ${change.path}`,
        ...change.diff.split('\n'),
      ]);
    case 'network':
      return [subject.port === null ? subject.host : `${subject.host}:${subject.port}`];
    case 'tool':
      return (JSON.stringify(subject.input, null, 2) ?? '').split('\n');
    case 'question':
      return [];
  }
}
