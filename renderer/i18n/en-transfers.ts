import type { Text } from './t.ts';

/** What moves between a bound folder and Core, and what is prepared there. Part of `en`. */
export const enTransfers = {
  'transfers.title': 'Folder work',
  'transfer.read': 'Reading',
  'transfer.write': 'Writing a file',
  'transfer.export': 'Sending files',
  'transfer.prepare': 'Preparing',
  'transfer.step.file': 'Preparing: a file',
  'transfer.step.skill': 'Preparing: a Skill',
  'transfer.step.plugin': 'Preparing: a Plugin',
  'transfer.step.configure': 'Preparing: variables',
  'transfer.step.npm': 'Preparing: npm packages',
  'transfer.step.python': 'Preparing: Python packages',
  'transfer.step.setup': 'Preparing: a setup command',
  'transfer.step.finalize': 'Preparing: the last step',
  'transfer.receiving': 'receiving',
  'transfer.applying': 'at work',
  'transfer.sending': 'sending',
  'transfer.unknown': 'outcome unknown',
  'transfer.bytes': '{done}',
  'transfer.bytes_of': '{done} of {total}',
  'transfer.stop': 'Stop',
  'transfer.stop.label': 'Stop: {what}',
} as const satisfies Readonly<Record<string, Text>>;
