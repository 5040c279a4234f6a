import type { Text } from './t.ts';

/** The log, the diagnostics and saving them. Part of `en`. */
export const enRecords = {
  'doctor.show': 'What is shown',
  'doctor.tab.findings': 'Findings',
  'doctor.tab.log': 'Log',
  'doctor.tab.diagnostics': 'Diagnostics',
  'log.lead': 'The newest lines of the log. It holds no prompts, no commands and no output.',
  'log.filter': 'Only lines with',
  'log.level': 'Level',
  'log.level.all': 'All',
  'log.level.warn': 'Warnings',
  'log.level.error': 'Errors',
  'log.none': 'No line fits.',
  'log.shown': { one: '{count} line', other: '{count} lines' },
  'log.older': 'Older lines are in the log folder.',
  'diagnostics.lead':
    'Everything a fault can be understood by, to read before you hand it on: versions, states, checks, counts and log lines. No secret, no prompt, no output; paths are cut to their last part.',
  'diagnostics.collecting': 'Collecting',
  save: 'Save as a file…',
  'save.done': 'Saved {name}.',
  'save.failed': '{name} could not be saved.',
  'records.failed': 'It could not be read. {message}',
} as const satisfies Readonly<Record<string, Text>>;
