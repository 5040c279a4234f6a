/** What of the log is shown: the newest lines that fit, in their order. */
export type LogLevel = 'all' | 'warn' | 'error';

/** More than that is nobody reading. */
const most = 1_000;

export function logLines(
  all: readonly string[],
  { filter, level }: { readonly filter: string; readonly level: LogLevel },
): { readonly lines: readonly string[]; readonly found: number } {
  const needle = filter.trim().toLowerCase();
  const levels = level === 'all' ? null : level === 'warn' ? ['warn', 'error'] : ['error'];
  const found = all.filter((line) => {
    // Time, level, event, fields.
    const word = line.split(' ', 2)[1] ?? '';
    return (
      (levels === null || levels.includes(word)) && (needle === '' || line.toLowerCase().includes(needle))
    );
  });
  return { lines: found.slice(-most), found: found.length };
}
