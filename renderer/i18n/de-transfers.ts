import type { enTransfers } from './en-transfers.ts';
import type { Text } from './t.ts';

/** What moves between a bound folder and Core, and what is prepared there, in German. Part of `de`. */
export const deTransfers = {
  'transfers.title': 'Arbeit am Ordner',
  'transfer.read': 'Wird gelesen',
  'transfer.write': 'Eine Datei wird geschrieben',
  'transfer.export': 'Dateien werden gesendet',
  'transfer.prepare': 'Vorbereitung',
  'transfer.step.file': 'Vorbereitung: eine Datei',
  'transfer.step.skill': 'Vorbereitung: ein Skill',
  'transfer.step.plugin': 'Vorbereitung: ein Plugin',
  'transfer.step.configure': 'Vorbereitung: Variablen',
  'transfer.step.npm': 'Vorbereitung: npm-Pakete',
  'transfer.step.python': 'Vorbereitung: Python-Pakete',
  'transfer.step.setup': 'Vorbereitung: ein Einrichtungsbefehl',
  'transfer.step.finalize': 'Vorbereitung: der letzte Schritt',
  'transfer.receiving': 'wird empfangen',
  'transfer.applying': 'in Arbeit',
  'transfer.sending': 'wird gesendet',
  'transfer.unknown': 'Ausgang unbekannt',
  'transfer.bytes': '{done}',
  'transfer.bytes_of': '{done} von {total}',
  'transfer.stop': 'Stoppen',
  'transfer.stop.label': 'Stoppen: {what}',
} as const satisfies Readonly<Record<keyof typeof enTransfers, Text>>;
