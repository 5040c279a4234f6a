import type { enRecords } from './en-records.ts';
import type { Text } from './t.ts';

/** The log, the diagnostics and saving them, in German. Part of `de`. */
export const deRecords = {
  'doctor.show': 'Was gezeigt wird',
  'doctor.tab.findings': 'Befunde',
  'doctor.tab.log': 'Protokoll',
  'doctor.tab.diagnostics': 'Diagnose',
  'log.lead': 'Die neuesten Zeilen des Protokolls. Es enthält keine Anfragen, Befehle oder Ausgaben.',
  'log.filter': 'Nur Zeilen mit',
  'log.level': 'Stufe',
  'log.level.all': 'Alle',
  'log.level.warn': 'Warnungen',
  'log.level.error': 'Fehler',
  'log.none': 'Keine Zeile passt.',
  'log.shown': { one: '{count} Zeile', other: '{count} Zeilen' },
  'log.older': 'Ältere Zeilen liegen im Protokollordner.',
  'diagnostics.lead':
    'Alles, woran sich ein Fehler verstehen lässt, zum Lesen, bevor Sie es weitergeben: Versionen, Zustände, Prüfungen, Zahlen und Protokollzeilen. Kein Geheimnis, keine Anfrage, keine Ausgabe; Pfade sind auf ihren letzten Teil gekürzt.',
  'diagnostics.collecting': 'Wird gesammelt',
  save: 'Als Datei speichern…',
  'save.done': '{name} gespeichert.',
  'save.failed': '{name} konnte nicht gespeichert werden.',
  'records.failed': 'Es konnte nicht gelesen werden. {message}',
} as const satisfies Readonly<Record<keyof typeof enRecords, Text>>;
