import type { enRules } from './en-rules.ts';
import type { Text } from './t.ts';

/** Rules: how one is made, the list of them, who answers instead of a person, in German. Part of `de`. */
export const deRules = {
  'prompt.allow_rule': 'Mit einer Regel erlauben…',
  'prompt.edit': 'Zuerst ändern…',
  'rule.covers': 'Die Regel erlaubt genau dies',
  'rule.covers.tool': '{tool} von {agent}, in {binding}. Bei jeder Abweichung wird gefragt.',
  'rule.scope': 'Wo sie gilt',
  'rule.scope.session': 'Diese Session',
  'rule.scope.folder': 'Dieser Ordner',
  'rule.end': 'Wie lange',
  'rule.end.week': '7 Tage',
  'rule.end.month': '30 Tage',
  'rule.end.none': 'Ohne Ende',
  'rule.allow': 'Erlauben und Regel speichern',
  'rule.edit.label': 'Was stattdessen ausgeführt wird',
  'rule.edit.same': 'Ändern Sie den Befehl, oder gehen Sie zurück und erlauben Sie ihn, wie er ist.',
  'rule.edit.allow': 'Geändert einmal erlauben',
  'fact.rules': 'Regeln',
  'fact.rules.none.command':
    'Bei Befehlen mit &&, |, ; oder > und bei solchen mit unsichtbaren Zeichen wird immer gefragt. Keine Regel kann diesen abdecken.',
  'settings.rules': 'Regeln',
  'rules.lead':
    'Eine Regel beantwortet genau eine Anfrage für Sie. Bei verketteten Befehlen wird immer gefragt.',
  'rules.none': 'Keine Regeln. Sie werden jedes Mal gefragt.',
  'rules.allow': 'Erlauben',
  'rules.where.turn': 'In {binding}, für einen Turn',
  'rules.where.session': 'In {binding}, für eine Session',
  'rules.where.folder': 'In {binding}',
  'rules.unused': 'Noch nicht benutzt, angelegt {at}',
  'rules.used': {
    one: '{count} Mal benutzt, zuletzt {at}',
    other: '{count} Mal benutzt, zuletzt {at}',
  },
  'rules.ends': 'endet in {left}',
  'rules.no_end': 'ohne Ende',
  'rules.remove': 'Entfernen',
  'rules.remove.label': 'Die Regel für {match} entfernen',
  'rules.remove_all': 'Alle entfernen',
  'rules.remove_all.title': {
    one: '{count} Regel entfernen?',
    other: '{count} Regeln entfernen?',
  },
  'rules.remove_all.text':
    'Sie werden ab jetzt jedes Mal gefragt. Was vorher erlaubt wurde, bleibt, wie es war.',
  'rules.remove_all.act': { one: '{count} Regel entfernen', other: '{count} Regeln entfernen' },
  'rules.policy': 'Wenn ein Agent fragt',
  'rules.policy.text':
    'Dateien, die ein Agent im gebundenen Ordner bearbeitet, können ohne Frage durchgelassen werden. Gilt ab dem nächsten Turn.',
  'rules.policy.ask': 'Mich fragen',
  'rules.policy.accept_edits': 'Dateiänderungen durchlassen',
  'rules.policy.unattended': 'Nie fragen',
  'rules.policy.sure': 'Nie fragen?',
  'rules.policy.sure.text':
    'Ab dem nächsten Turn wird jeder Befehl und jede Änderung, die ein Agent will, sofort erlaubt. Er läuft mit Ihrem Benutzerkonto und Ihren Rechten. Fragen erreichen Sie weiterhin.',
  'rules.answered_by': 'Wer antworten darf',
  'rules.answered_by.text': 'Bei beiden zählt die erste gültige Antwort, und die andere Seite erfährt es.',
  'rules.answered_by.both': 'Ich oder Core',
  'rules.answered_by.local': 'Nur ich',
  'rules.answered_by.core': 'Nur Core',
  'history.rule.saved': 'Regel gespeichert: {title}',
  'history.rule.removed': 'Regel entfernt: {title}',
} as const satisfies Readonly<Record<keyof typeof enRules, Text>>;
