import type { agentSentences } from '../../src/contract/sentences-agents.ts';
import type { Text } from './t.ts';

/** What is said of agents, Turns, prompts and input, in German. Part of `de`. */
export const deAgentSentences = {
  // Agents on this machine
  'said.agent.named': '{agent}: {why}',
  'said.agent.not_available': '{agent}: nicht verfügbar',
  'said.agent.missing': '{agent} wurde nicht gefunden.',
  'said.agent.missing_there': '{agent} wurde an der eingestellten Stelle nicht gefunden.',
  'said.agent.install_or_name':
    'Installieren Sie das Programm, oder nennen Sie seinen Ort in der Konfiguration.',
  'said.agent.install': 'Installieren Sie das Programm und versuchen Sie es erneut.',
  'said.agent.silent.claude':
    'Claude Code ist da, antwortet aber nicht. Führen Sie im Terminal „claude --version“ aus.',
  'said.agent.silent.codex':
    'Codex ist da, antwortet aber nicht. Führen Sie im Terminal „codex --version“ aus.',
  'said.agent.old.claude':
    'Dieses Claude Code ist zu alt für diese App. Aktualisieren Sie Claude Code (mit „claude update“).',
  'said.agent.signed_out.claude':
    'Claude Code ist nicht angemeldet. Führen Sie im Terminal „claude auth login“ aus.',
  'said.agent.signed_out.codex': 'Codex ist nicht angemeldet. Führen Sie im Terminal „codex login“ aus.',
  'said.agent.signed_out':
    '{agent} ist nicht angemeldet. Starten Sie das Programm in einem Terminal und melden Sie sich dort an.',
  'said.agent.no_start.claude':
    'Claude Code ließ sich nicht starten. Führen Sie im Terminal „claude“ aus und sehen Sie, was es sagt.',
  'said.agent.no_start.codex':
    'Codex ließ sich nicht starten. Führen Sie im Terminal „codex“ aus und sehen Sie, was es sagt.',
  'said.agent.no_start.try': '{agent} ließ sich nicht starten. Probieren Sie es in einem Terminal.',
  'said.agent.no_start': '{agent} ließ sich nicht starten.',
  'said.agent.odd_start.claude':
    'Claude Code ist nicht wie erwartet gestartet. Führen Sie im Terminal „claude“ aus und sehen Sie, was es sagt.',
  'said.agent.odd_start.codex':
    'Codex ist nicht wie erwartet gestartet. Führen Sie im Terminal „codex“ aus und sehen Sie, was es sagt.',
  'said.agent.odd_start': '{agent} ist nicht wie erwartet gestartet.',
  'said.agent.no_mode': 'Von {agent} ist kein Modus bekannt, in dem vor dem Handeln gefragt wird.',
  'said.agent.looking': '{agent} wird gesucht.',
  'said.agent.looking_failed': 'Die Suche nach {agent} ist fehlgeschlagen. Sehen Sie ins Protokoll.',
  'said.agent.no_answer': '{agent} antwortet nicht.',
  'said.agent.no_answer.try': '{agent} antwortet nicht. Probieren Sie es in einem Terminal.',
  'said.agent.ended.try': '{agent} hat sich selbst beendet. Probieren Sie es in einem Terminal.',
  'said.agent.no_reason': 'Ein Grund wurde nicht genannt.',
  'said.agent.no_state_folder':
    'Ihr Ordner im Zustandsordner konnte nicht angelegt werden. Prüfen Sie den Zustandsordner.',
  'said.agent.program': '{agent} ließ sich nicht starten. Prüfen Sie, ob das Programm installiert ist.',
  'said.agent.no_folder':
    'Den Ordner, in dem gearbeitet werden soll, gibt es nicht. Prüfen Sie ihn und versuchen Sie es erneut.',
  'said.agent.ledger':
    'Die Liste der gestarteten Programme konnte nicht geschrieben werden. Prüfen Sie die Platte und versuchen Sie es erneut.',
  'said.agent.needs_folder': 'Dieser Agent braucht einen Ordner, in dem er arbeitet.',
  'said.agent.demo':
    'Eine Demo ohne Modell: Sie gibt Text aus, stellt eine Frage, bittet um eine Erlaubnis und schreibt eine Datei.',

  // Why a Turn did not start
  'said.start.stopped': 'Er wurde gestoppt, bevor er begann. Nichts wurde übergeben.',
  'said.start.restarted':
    'Die App endete, bevor das Ende dieses Turns beobachtet wurde. Er läuft nicht von selbst noch einmal.',
  'said.start.preparation': 'Der Agent ließ sich nicht starten. Prüfung und Protokoll sagen mehr.',
  'said.start.closing':
    'Der Agent dieser Session wird noch beendet. Sehen Sie an, was nicht abgeschlossen ist.',
  'said.start.lost': 'Die Verbindung ging verloren, bevor er begann. Nichts wurde übergeben.',
  'said.start.unsupported': 'Dieser Agent unterstützt nicht, was die Session verlangt.',
  'said.start.version': 'Dieser Agent kann von dieser Version der App nicht vorbereitet werden.',
  'said.start.no_folder': 'Dieser Agent arbeitet nicht in einem gebundenen Ordner.',

  'said.start.code': 'Er hat nicht begonnen: {code}.',

  // How a Turn ended
  'said.turn.lost':
    'Die Verbindung endete, bevor das Ende dieses Turns beobachtet wurde. Er läuft nicht von selbst noch einmal.',
  'said.turn.core_stops': 'Core hat diese App aufgefordert, ihre Arbeit zu beenden.',
  'said.turn.no_end': 'Der Agent hat das Ende dieses Turns nicht bestätigt. Sein Prozess wurde beendet.',
  'said.turn.start_failed': 'Der Start des Turns ist fehlgeschlagen. Was er getan hat, ist nicht bekannt.',
  'said.turn.not_prepared': 'Der Agent ließ sich nicht vorbereiten. Ihm wurde nichts übergeben.',
  'said.turn.not_taken': 'Der Agent hat den Turn nicht angenommen. Ihm wurde nichts übergeben.',
  'said.turn.went_on': 'Der Agent machte weiter, nachdem er sich fertig gemeldet hatte.',
  'said.turn.stopped_early': 'Der Agent hörte auf, ohne sich fertig zu melden.',
  'said.turn.too_large':
    'Der Agent schrieb etwas, das größer ist, als eine Nachricht tragen kann. Der Turn wurde beendet.',
  'said.turn.cut':
    'Eine Ausgabe war zu groß für eine Nachricht. Core hat ihren Anfang und ihr Ende bekommen.',
  'said.turn.ended_in_work': 'Der Agent endete mitten in seiner Arbeit.',
  'said.turn.no_answer': 'Der Agent gab keine Antwort.',
  'said.turn.failed': 'Der Agent ist gescheitert.',
  'said.turn.stopped': 'Der Agent hörte auf, bevor er fertig war.',
  'said.turn.max_tokens': 'Der Agent hat die Längengrenze seiner Antwort erreicht.',
  'said.turn.max_requests': 'Der Agent hat die Grenze seiner Aufrufe in einem Turn erreicht.',
  'said.turn.refusal': 'Der Agent weigerte sich weiterzumachen.',
  'said.turn.unknown_stop': 'Der Agent hörte aus einem Grund auf, der nicht bekannt ist.',
  'said.turn.ended_with_error': '{agent} hat diesen Turn mit einem Fehler beendet.',
  'said.turn.broke_off': 'Codex hat diesen Turn nicht zu Ende geführt.',
  'said.turn.form': 'Die Antwort hat nicht die verlangte Form.',
  'said.turn.form.claude': 'Claude Code gab keine Antwort in der verlangten Form.',
  'said.turn.demo': 'Die Demo ist gescheitert. Das ist ein Fehler dieser App.',
  'said.turn.unconfirmed': '{agent} hat das Ende dieses Turns nicht bestätigt',
  'said.turn.command_runs': 'ein Befehl des gestoppten Turns läuft vielleicht noch',
  'said.program.silent': '{agent} sagt nichts mehr.',
  'said.program.unhandled': '{agent} hat etwas gesendet, das sich nicht verarbeiten ließ.',
  'said.program.too_large': '{agent} hat eine zu große Nachricht gesendet.',
  'said.program.unknown':
    '{agent} hat etwas gesendet, das diese App nicht versteht. Aktualisieren Sie diese App.',
  'said.program.ended': '{agent} endete, bevor eine Antwort kam.',
  'said.program.timeout': '{agent} hat nicht rechtzeitig geantwortet.',

  // Notices in the output
  'said.notice.shortened': '{agent} hat das Gespräch gekürzt, um Platz zu schaffen.',
  'said.notice.model': 'Codex macht mit einem anderen Modell weiter: {model}.',
  'said.notice.mcp': 'Der MCP-Server {name} ließ sich nicht starten. Codex arbeitet ohne ihn.',
  'said.notice.mcp_asked':
    'Der MCP-Server {name} hat etwas gefragt, das diese App nicht zeigen kann. Die Antwort war Nein.',
  'said.notice.reason': 'Codex hat Ihren Grund für die Ablehnung nicht angenommen.',

  // What became of input while a Turn runs
  'said.input.not_read': 'der Turn endete, bevor die Eingabe gelesen wurde',
  'said.input.not_used': 'der Turn endete, bevor die Eingabe benutzt wurde',
  'said.input.not_consumed': 'der Turn endete, bevor die Eingabe aufgenommen wurde',
  'said.input.not_shown': 'der Turn endete, bevor der Agent zeigte, dass er die Eingabe nahm',
  'said.input.no_word': 'Codex hat nicht gesagt, ob es die Eingabe nahm',
  'said.input.late': 'Codex hat die Eingabe nicht rechtzeitig genommen',
  'said.input.write': 'das Schreiben dauerte zu lange',
  'said.input.receipt': 'die Bestätigung kam nicht an',
  'said.input.timeout': 'es dauerte zu lange',

  // How a prompt ended
  'said.prompt.taken_back': 'Der Agent hat die Anfrage zurückgenommen.',
  'said.prompt.no_longer':
    'Der Agent wartete nicht mehr auf diese Antwort. Durch sie wurde nichts entschieden.',
  'said.prompt.turn_ended': 'Der Turn endete, bevor sie beantwortet wurde.',
  'said.prompt.nothing': 'Nichts wurde erlaubt oder abgelehnt.',
  'said.prompt.turn_gone': 'Der Turn wurde als erledigt eingetragen.',
  'said.prompt.told_reason': 'Dem Agenten wurde Ihr Grund mitgeteilt.',
  'said.prompt.nobody':
    'Dem Agenten wurde mitgeteilt, dass niemand geantwortet hat, nicht, dass Sie abgelehnt haben.',
  'said.prompt.declined': 'Dem Agenten wurde mitgeteilt, dass Sie nicht antworten wollten.',
  'said.prompt.rule': 'Regel für {match}, angelegt {day}.',
  'said.prompt.question': 'Eine Frage beantworten',
  'said.prompt.questions': '{count} Fragen beantworten',
} as const satisfies Readonly<Record<keyof typeof agentSentences, Text>>;
