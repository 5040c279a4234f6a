import type { SentenceCode } from '../../src/contract/sentences.ts';
import { deAgentSentences } from './de-sentences-agents.ts';
import type { Text } from './t.ts';

/** What a Runtime says in words of its own, in German. Part of `de`. */
export const deSentences = {
  ...deAgentSentences,

  // Health: what was found, then what to do
  'said.health.credential_store.next':
    'Entsperren oder starten Sie den Schlüsselbund des Systems und versuchen Sie es erneut, oder wählen Sie in den Einstellungen einen anderen Platz.',
  'said.health.folder_missing': 'Der Ordner {path} fehlt oder lässt sich nicht öffnen.',
  'said.health.folder_missing.next':
    'Legen Sie den Ordner an oder machen Sie ihn für sich beschreibbar, und versuchen Sie es dann erneut.',
  'said.health.folder_read_only': 'Der Ordner {path} ist nur lesbar.',
  'said.health.folder_read_only.next':
    'Agenten können dort lesen, aber nichts ändern. Machen Sie den Ordner für sich beschreibbar, wenn sie es sollen.',
  'said.health.disk_full.turns':
    'Die Turns des lokalen Core konnten nicht auf die Platte geschrieben werden.',
  'said.health.disk_full.next': 'Schaffen Sie Platz auf der Platte, auf der der Zustandsordner liegt.',
  'said.health.set_aside': 'Eine Zustandsdatei wurde als {path} beiseitegelegt.',
  'said.health.set_aside.credentials':
    'Die Datei der gespeicherten Zugangsdaten wurde als {path} beiseitegelegt.',
  'said.health.set_aside.turns': 'Die Turns des lokalen Core wurden als {path} beiseitegelegt.',
  'said.health.set_aside.next':
    'Die Datei ließ sich nicht auswerten und wurde unter einem anderen Namen aufgehoben. Sehen Sie hinein, oder entfernen Sie sie.',
  'said.health.binding_unreadable': 'Der Beleg einer Bindung ist nicht lesbar: {path}.',
  'said.health.binding_unreadable.next':
    'Von dort wird nichts bedient. Holen Sie environment.json aus einer Kopie zurück, oder schieben Sie den Ordner beiseite und richten Sie die Bindung neu ein.',
  'said.health.no_agent': 'Auf diesem Rechner wurde kein Agent gefunden.',
  'said.health.no_agent.next':
    'Installieren Sie Claude Code und melden Sie sich mit `claude auth login` an, oder probieren Sie den Demo-Agenten aus.',
  'said.health.agent_not_started': 'Der Agent {agent} konnte nicht gestartet werden.',
  'said.health.agent_not_started.next':
    'Beheben Sie, was genannt ist, und senden Sie die Nachricht dann noch einmal. Dem Agenten wurde nichts übergeben.',
  'said.health.cleanup': 'Von etwas, das gestartet wurde, ist das Ende nicht belegt.',
  'said.health.cleanup.next':
    'Sehen Sie an, was nicht abgeschlossen ist, versuchen Sie es erneut, oder tragen Sie es als erledigt ein.',
  'said.health.orphans_ended': {
    one: '{count} Prozessgruppe des letzten Laufs, der ohne Warnung endete, wurde jetzt beendet.',
    other: '{count} Prozessgruppen des letzten Laufs, der ohne Warnung endete, wurden jetzt beendet.',
  },
  'said.health.orphans_ended.next':
    'Hier ist nichts zu tun. Was der letzte Lauf zurückgelassen hat, ist beendet.',
  'said.health.no_tray':
    'Dieser Desktop zeigt kein Tray-Symbol; das Schließen des Fensters minimiert es deshalb nur.',
  'said.health.no_tray.next':
    'Ein neuer Start der App holt das Fenster nach vorn. Unter GNOME zeigt die Erweiterung AppIndicator Tray-Symbole.',
  'said.health.log': 'Zeilen des Protokolls konnten nicht auf die Platte geschrieben werden.',
  'said.health.log.next':
    'Prüfen Sie, ob der Ordner logs im Zustandsordner beschreibbar ist und die Platte noch Platz hat. Im Protokoll fehlen Zeilen.',
  'said.health.login_item': 'Der Start bei der Anmeldung konnte nicht geändert werden.',
  'said.health.login_item.next':
    'Sehen Sie im Autostart-Ordner Ihres Desktops nach: Der Eintrag dieser App lässt sich nicht schreiben, gehört einem anderen Programm oder wurde dort abgeschaltet.',
  'said.health.history': 'Der Verlauf konnte nicht auf die Platte geschrieben werden.',
  'said.health.history.next':
    'Prüfen Sie, ob der Zustandsordner beschreibbar ist und die Platte noch Platz hat.',

  // Credential store
  'said.keychain.none': 'Hier gibt es keinen Schlüsselbund des Systems.',
  'said.keychain.locked': 'Der Schlüsselbund des Systems ist gesperrt.',
  'said.keychain.locked_or_lost':
    'Der Schlüsselbund ist gesperrt, oder der Eintrag dieser Bindung wurde daraus entfernt.',
  'said.keychain.timeout': 'Der Schlüsselbund des Systems hat 5 s lang nicht geantwortet.',
  'said.keychain.refused': 'Der Schlüsselbund des Systems hat es verweigert.',

  // Checks
  'said.check.state_folder': 'Zustandsordner',
  'said.check.disk': 'Platte',
  'said.check.store': 'Speicher für Zugangsdaten',
  'said.check.local_core': 'Lokaler Core',
  'said.check.core_of': 'Core von {binding}',
  'said.check.folder_of': 'Ordner von {binding}',
  'said.check.network': 'Proxy und Zertifikate',
  'said.check.clock': 'Uhr',
  'said.check.agents': 'Agenten',
  'said.check.cleanup': 'Aufräumen',
  'said.check.folder.ok': '{path} ist lesbar und beschreibbar.',
  'said.check.folder.bad': '{path} ist nicht beschreibbar.',
  'said.check.folder.next':
    'Machen Sie ihn zu Ihrem eigenen und beschreibbar, oder nennen Sie mit --state-dir einen anderen Ordner.',
  'said.check.disk.low': '{mb} MB sind frei.',
  'said.check.disk.free': '{gb} GB sind frei.',
  'said.check.disk.unknown': 'Wie viel frei ist, lässt sich hier nicht feststellen.',
  'said.check.disk.next': 'Schaffen Sie Platz.',
  'said.check.store.works': 'Funktioniert ({backend}).',
  'said.check.store.needed':
    'Entsperren oder starten Sie ihn und versuchen Sie es erneut, oder wählen Sie in den Einstellungen einen anderen Platz für Zugangsdaten.',
  'said.check.store.unneeded':
    'Zurzeit wird er nicht gebraucht. Um diesen Rechner später an einen Core zu binden, entsperren oder starten Sie ihn.',
  'said.check.clock.right': 'Sie stimmt auf die Minute mit {host} überein.',
  'said.check.clock.ahead': {
    one: 'Sie geht {count} Minute gegenüber {host} vor.',
    other: 'Sie geht {count} Minuten gegenüber {host} vor.',
  },
  'said.check.clock.behind': {
    one: 'Sie geht {count} Minute gegenüber {host} nach.',
    other: 'Sie geht {count} Minuten gegenüber {host} nach.',
  },
  'said.check.clock.unknown': 'Wie spät es bei {host} ist, war nicht zu erfahren.',
  'said.check.clock.next':
    'Fristen können falsch aussehen. Schalten Sie in den Systemeinstellungen die automatische Zeit ein, und prüfen Sie erneut.',
  'said.check.connected': 'Verbunden.',
  'said.check.not_connected': 'Nicht verbunden ({state}).',
  'said.check.fix': 'Beheben Sie die Ursache und versuchen Sie es erneut.',
  'said.check.tries_on': 'Der Versuch geht von selbst weiter.',
  'said.check.ready': 'Bereit.',
  'said.check.ready_version': 'Bereit, Version {version}.',
  'said.check.not_available': 'Nicht verfügbar.',
  'said.check.settled': 'Alles, was gestartet wurde, ist abgeschlossen oder arbeitet noch.',
  'said.check.unsettled': {
    one: 'Von {count} Sache ist das Ende nicht belegt.',
    other: 'Von {count} Sachen ist das Ende nicht belegt.',
  },
  'said.check.unsettled.next': 'agent-runtime cleanup zählt sie auf; cleanup retry ID versucht es erneut.',

  'said.net.direct': 'Kein Proxy: Nach den Einstellungen wird jeder Core direkt erreicht.',
  'said.net.no_address':
    'Der Proxy der Einstellungen hat keine brauchbare Adresse; jeder Core wird deshalb direkt erreicht.',
  'said.net.no_address.next':
    'Nennen Sie seine Adresse in den Einstellungen, oder wählen Sie einen anderen Weg.',
  'said.net.manual': 'Proxy {host}, aus den Einstellungen.',
  'said.net.manual_user': 'Proxy {host} mit Benutzer und Passwort, aus den Einstellungen.',
  'said.net.no_password': 'Ein Benutzer ist genannt, aber kein Passwort dafür vorhanden.',
  'said.net.no_password.next': 'Geben Sie das Passwort in den Einstellungen an.',
  'said.net.variable': 'Proxy {host}, aus {variable} der Umgebung.',
  'said.net.left_out': 'Proxy {host}, aus {variable} der Umgebung, aber NO_PROXY nimmt {core} aus.',
  'said.net.bad_variable': '{variable} der Umgebung nennt keinen brauchbaren Proxy.',
  'said.net.bad_variable.next':
    'Berichtigen Sie die Umgebung, oder nennen Sie einen Proxy in den Einstellungen.',
  'said.net.none': 'Kein Proxy: Die Umgebung nennt keinen.',
  'said.net.none_desktop': 'Kein Proxy: Weder die Umgebung noch der Desktop nennt einen.',
  'said.net.desktop': 'Proxy {host}, wie der Desktop ihn nennt.',
  'said.net.desktop_silent':
    'Der Desktop hat 5 s lang nicht gesagt, ob es einen Proxy gibt; Core wird deshalb direkt erreicht.',
  'said.net.desktop_silent.next':
    'Sehen Sie die Proxy-Einstellungen des Systems an, oder nennen Sie einen Proxy in den Einstellungen.',
  'said.net.ca_none': 'Zertifikate: die eingebauten Aussteller.',
  'said.net.ca':
    'Zertifikate: die eingebauten Aussteller und {count} weitere aus {path}, aus den Einstellungen.',
  'said.net.ca_expired': 'Davon abgelaufen: {count}.',
  'said.net.ca_expired.next': 'Fragen Sie den Betreiber Ihres Netzes nach einer neuen Datei mit Ausstellern.',
  'said.net.ca_bad.next':
    'Bis dahin gilt niemand aus {path}. Berichtigen Sie die Datei, oder nennen Sie in den Einstellungen eine andere.',

  // Why a connection is not there
  'said.conn.network': 'Keine Verbindung zu {host}.',
  'said.conn.name_not_found': 'Name nicht gefunden: {host}.',
  'said.conn.refused': '{host} hat die Verbindung verweigert.',
  'said.conn.timeout': 'Core hat 10 s lang nicht geantwortet.',
  'said.conn.tls.expired':
    'Das Zertifikat von {host} ist abgelaufen. Prüfen Sie die Uhr dieses Rechners, oder fragen Sie den Betreiber dieses Core.',
  'said.conn.tls.early': 'Das Zertifikat von {host} gilt noch nicht. Prüfen Sie die Uhr dieses Rechners.',
  'said.conn.tls.name':
    'Das Zertifikat ist keines für {host}. Vielleicht antwortet etwas anderes an seiner Stelle.',
  'said.conn.tls.none': '{host} spricht dort kein TLS. Prüfen Sie die Adresse.',
  'said.conn.tls.issuer':
    'Dem Zertifikat von {host} wird nicht vertraut: Sein Aussteller ist hier unbekannt ({code}). Ein weiterer Aussteller lässt sich in den Einstellungen nennen.',
  'said.conn.proxy_auth':
    'Der Proxy verlangt ein Passwort (407). Geben Sie Benutzer und Passwort in den Einstellungen an.',
  'said.conn.proxy_unreachable':
    'Der Proxy ist nicht erreichbar. Prüfen Sie seine Adresse in den Einstellungen, oder das Netz.',
  'said.conn.proxy_refused': 'Der Proxy lässt dies nicht durch ({code}). Fragen Sie, wer ihn betreibt.',
  'said.conn.captive_portal':
    'Dieses Netz verlangt erst eine Anmeldung. Öffnen Sie eine Webseite im Browser, melden Sie sich an und versuchen Sie es dann erneut.',
  'said.conn.http_error': 'Core hat mit einem Fehler geantwortet.',
  'said.conn.http_status': 'Core hat mit {code} geantwortet.',
  'said.conn.not_found': 'Core kennt diese Adresse nicht: Die Antwort war {code}.',
  'said.conn.closed_by_core': 'Core hat die Verbindung geschlossen.',
  'said.conn.read_timeout': 'Von Core kam drei Intervalle lang nichts.',
  'said.conn.write_failed': 'Core hat 10 s lang nicht angenommen, was gesendet wurde.',
  'said.conn.frame_too_large': 'Core hat mehr gesendet, als eine Nachricht tragen darf.',
  'said.conn.bad_answer': 'Die Antwort dieser Adresse ist nicht die eines Core.',
  'said.conn.flapping':
    'In einer Minute mehrmals verloren. Vielleicht benutzt ein anderes Programm dieselben Zugangsdaten.',
  'said.conn.version.other':
    'Core spricht eine andere Version als diese App ({own}). Aktualisieren Sie die App, oder Core muss aktualisiert werden.',
  'said.conn.version':
    'Core spricht {theirs}, diese App {own}. Aktualisieren Sie die App, oder Core muss aktualisiert werden.',
  'said.conn.credential_rejected':
    'Core hat die Zugangsdaten zurückgewiesen: Sie wurden widerrufen oder ersetzt. Richten Sie die Bindung neu ein, oder übergeben Sie eine neue Startdatei.',
  'said.conn.retired':
    'Core hat diese Bindung aufgelöst. Fragen Sie den Betreiber dieses Core, oder entfernen Sie die Bindung.',
  'said.conn.mismatch':
    'Core hat für ein anderes Gerät oder eine andere Adresse geantwortet, als hier gebunden ist. Mehr wurde nicht dorthin gesendet.',
  'said.conn.other_key':
    'An dieses Environment ist ein anderer Schlüssel gebunden. Erneuern Sie diesen, statt einen zweiten zu verwenden.',
  'said.conn.no_store':
    'Der Speicher für Zugangsdaten hat nicht geantwortet. Die Zugangsdaten wurden weder gelesen noch geändert.',
  'said.conn.missing':
    'Für diese Bindung sind keine Zugangsdaten gespeichert. Richten Sie die Bindung neu ein.',
  'said.conn.workspace':
    'Der gebundene Ordner fehlt oder ist nicht benutzbar. Legen Sie ihn an oder ändern Sie seine Rechte, und versuchen Sie es dann erneut.',
  'said.conn.suspended': 'Core hat dieses Environment ausgesetzt.',

  // Refusals of commands
  'said.no.fault': 'In der App ging etwas schief. Im Protokoll stehen die Zeit und der Name des Fehlers.',
  'said.no.command': 'Einen solchen Befehl gibt es nicht.',
  'said.no.request': 'Der Befehl {command} wurde nicht verstanden.',
  'said.no.local_core': 'Hier gibt es keinen lokalen Core. Turns anderer Cores werden von diesen gestartet.',
  'said.no.turn_record': 'Was dieser Turn geschrieben hat, wird hier nicht mehr aufbewahrt.',
  'said.no.paused': 'Pausiert: Es wird keine neue Arbeit angenommen. Setzen Sie zuerst fort.',
  'said.no.binding': 'Es gibt keine Bindung namens {binding}.',
  'said.no.enrolled_binding': 'Es gibt keine eingerichtete Bindung namens {binding}.',
  'said.no.cleanup': 'Unter dieser Kennung ist nichts mehr aufzuräumen.',
  'said.no.preparation': 'Unter dieser Kennung ist kein Schritt einer Vorbereitung im Gange.',
  'said.no.rule': 'Eine Regel mit dieser Kennung gibt es nicht.',
  'said.no.prompt': 'Unter dieser Kennung wartet nichts auf eine Antwort.',
  'said.no.allow_or_deny': 'Erlauben Sie es, oder lehnen Sie es ab.',
  'said.no.answer_or_cancel': 'Beantworten Sie die Fragen, oder antworten Sie nicht.',
  'said.no.meanwhile':
    'Inzwischen wurde sie entschieden oder zurückgezogen. Diese Antwort wurde nicht angewendet.',
  'said.no.core_answers':
    'Diese Runtime ist so eingestellt, dass Core antwortet. Die Antwort wurde nicht angewendet.',
  'said.no.agent_refused':
    'Der Agent hat die Antwort nicht angenommen. Die Anfrage ist noch offen; versuchen Sie es erneut.',
  'said.no.question': 'Die Antwort nennt eine Frage, die nicht gestellt wurde.',
  'said.no.rule_input': 'Eine andere Eingabe lässt sich einmal erlauben, nicht mit einer Regel.',
  'said.no.other_input':
    'Dieser Agent nimmt hier keine andere Eingabe. Erlauben Sie sie, wie sie ist, oder lehnen Sie mit einem Grund ab.',
  'said.no.rule_here':
    'Keine Regel kann diese Anfrage abdecken. Erlauben Sie sie einmal oder für diesen Turn, oder lehnen Sie sie ab.',
  'said.no.already': 'Schon entschieden ({outcome}). Ihre Antwort wurde nicht angewendet.',
  'said.no.session': 'Eine Session mit dieser Kennung gibt es nicht.',
  'said.no.session_agent':
    'Diese Session gehört zu {agent}. Beginnen Sie für einen anderen Agenten eine neue.',
  'said.no.turn': 'Einen Turn mit dieser Kennung gibt es nicht.',
  'said.no.turn_ended': 'Dieser Turn ist schon beendet.',
  'said.no.turn_input':
    'Dieser Turn nimmt jetzt keine Eingabe: Er läuft nicht, oder sein Agent unterstützt es nicht.',
  'said.no.agent_kind': 'Einen Agenten der Art {agent} gibt es hier nicht. Vorhanden sind: {kinds}.',
  'said.no.agent_available': '{agent} ist nicht verfügbar.',
  'said.no.empty_task': 'Schreiben Sie, was der Agent tun soll.',
  'said.no.long_task': 'Der Text ist zu lang für einen Turn.',
  'said.no.task_disk':
    'Der Turn wurde nicht gestartet: Er konnte nicht auf die Platte geschrieben werden. Prüfen Sie, ob auf der Platte Platz ist.',
  'said.no.file_written':
    'Die Datei {path} konnte nicht geschrieben werden. Prüfen Sie, ob auf der Platte Platz ist.',
  'said.no.file_read':
    'Die Datei {path} konnte nicht gelesen werden. Prüfen Sie, ob sie eine Datei ist und Sie sie lesen dürfen.',
  'said.no.folder_made':
    'Der Ordner {path} konnte nicht angelegt werden. Nennen Sie einen anderen, oder machen Sie ihn für sich beschreibbar.',
  'said.no.folder_parent':
    'Der Ordner {path} konnte nicht angelegt werden. Machen Sie den Ordner darüber für sich beschreibbar.',
  'said.no.proxy_address':
    'Die Adresse des Proxys muss aussehen wie http://proxy.example.com:3128, mit nichts nach dem Port.',
  'said.no.proxy_secret':
    'Die Adresse des Proxys darf weder Benutzer noch Passwort enthalten. Sie haben eigene Felder.',
  'said.no.proxy_colon': 'Der Name eines Proxy-Benutzers darf keinen Doppelpunkt enthalten.',
  'said.no.password_kept':
    'Das Passwort wurde nicht gespeichert. Entsperren oder starten Sie den Schlüsselbund und versuchen Sie es erneut.',
  'said.no.ca_path': 'Nennen Sie den ganzen Pfad der Datei mit Ausstellern.',
  'said.no.ca_read':
    'Die Datei mit Ausstellern ist nicht lesbar. Prüfen Sie, ob es sie gibt und Sie sie lesen dürfen.',
  'said.no.ca_empty': 'Die Datei mit Ausstellern enthält kein Zertifikat in der Form PEM.',
  'said.no.ca_broken':
    'Ein Zertifikat in der Datei mit Ausstellern ist nicht lesbar. Lassen Sie sich die Datei noch einmal geben.',
  'said.no.update_ready': 'Es liegt keine Aktualisierung zum Installieren bereit.',
  'said.no.update_self': 'Diese App aktualisiert sich nicht selbst.',
  'said.no.update_now': 'Bei der Aktualisierung geht das jetzt nicht.',
  'said.no.update_turn': 'Ein Turn ist offen. Die Aktualisierung wird installiert, wenn er beendet ist.',
  'said.no.update_cleanup': 'Etwas ist nicht abgeschlossen. Die Aktualisierung wartet darauf.',
  'said.no.update_transfer': 'Arbeit an einem Ordner ist im Gange. Die Aktualisierung wartet darauf.',
  'said.no.update_enrolment':
    'Eine Einrichtung ist offen. Bringen Sie sie zuerst zu Ende, oder schließen Sie sie.',

  // Enrolling, rotating, removing
  'said.enrol.busy': 'Die Bindung wird gerade eingerichtet. Warten Sie, bis das fertig ist.',
  'said.enrol.not_removed':
    'Nichts wurde entfernt. Entsperren Sie den Schlüsselbund und versuchen Sie es erneut, oder entfernen Sie die Bindung und lassen Sie den Eintrag, wo er ist.',
  'said.enrol.no_link': 'Kein Link hat eine Einladung gebracht.',
  'said.enrol.address':
    'Die Adresse von Core muss mit wss beginnen (ws nur auf diesem Rechner) und auf /api/v1/agent-daemon/ws enden, mit nichts danach.',
  'said.enrol.environment': 'Das Environment muss eine kanonische UUID in Kleinbuchstaben sein.',
  'said.enrol.closed': 'Diese Einrichtung wurde geschlossen. Beginnen Sie neu.',
  'said.enrol.many': 'Zu viele Einrichtungen sind offen. Schließen Sie zuerst eine.',
  'said.enrol.over': 'Diese Einrichtung ist im Gange oder vorbei.',
  'said.enrol.broke_off': 'Die Einrichtung brach in der App ab.',
  'said.enrol.other_environment': 'Die Zugangsdatei ist für ein anderes Environment als das genannte.',
  'said.enrol.other_binding': 'Die Zugangsdatei ist für ein anderes Environment als diese Bindung.',
  'said.enrol.frozen':
    'Die Session ist für den Ordner {path} und keinen anderen. Ein anderer Ordner braucht eine andere Session.',
  'said.enrol.frozen_name':
    'Die Session ist für den Ordner {path} und keinen anderen. Nennen Sie diesen Ordner, oder verwenden Sie eine andere Session.',
  'said.enrol.name':
    'Der Name nimmt Buchstaben, Ziffern, Punkt, Bindestrich und Unterstrich, höchstens 64; nicht „local“.',
  'said.enrol.name_taken': 'Es gibt schon eine Bindung namens {binding}. Wählen Sie einen anderen Namen.',
  'said.enrol.no_folder': 'Nennen Sie zuerst den Ordner, der gebunden werden soll.',
  'said.enrol.folder_changed':
    'Der Ordner ist nicht mehr der, der bestätigt wurde. Sehen Sie ihn noch einmal an.',
  'said.enrol.bound': 'Dieses Environment ist an {path} gebunden und bleibt dort.',
  'said.enrol.other_key':
    'An dieses Environment ist ein anderer Schlüssel gebunden, und dabei bleibt es. Erneuern Sie diesen, statt einen zweiten zu verwenden.',
  'said.enrol.no_store':
    'Der Speicher für Zugangsdaten hat nicht geantwortet. Nichts wurde gelesen oder geändert. Entsperren oder starten Sie den Schlüsselbund des Systems und versuchen Sie es erneut, oder wählen Sie eine Datei für die Zugangsdaten.',
  'said.enrol.folder.not_absolute':
    'Der Pfad des Ordners muss vollständig sein, von der Wurzel an und ohne Umwege.',
  'said.enrol.folder.root':
    'Das Wurzelverzeichnis kann nicht gebunden werden. Wählen Sie einen eigenen Ordner.',
  'said.enrol.folder.home':
    'Ihr persönlicher Ordner selbst kann nicht gebunden werden. Wählen Sie einen Ordner darin.',
  'said.enrol.folder.holds_home':
    'Dieser Ordner enthält Ihren persönlichen Ordner und kann nicht gebunden werden.',
  'said.enrol.folder.own_state':
    'Dieser Ordner gehört zum Zustand dieser App selbst und kann nicht gebunden werden.',
  'said.enrol.folder.holds_own_state':
    'Dieser Ordner enthält den Zustand dieser App selbst und kann nicht gebunden werden.',
  'said.enrol.folder.not_a_folder': 'Dies ist kein Ordner.',
  'said.enrol.folder.missing':
    'Diesen Ordner gibt es nicht. Legen Sie ihn an, und versuchen Sie es dann erneut.',
  'said.enrol.folder.unreachable':
    'Dieser Ordner lässt sich nicht ansehen: Ein Teil des Pfades ist ein toter Link oder nicht zugänglich.',
  'said.enrol.receipts':
    'Die Bindungen dieses Rechners konnten nicht gelesen werden. Prüfen Sie den Zustandsordner.',
  'said.enrol.foreign_state':
    'In {path} liegt Zustand dieses Environments, den keine Einrichtung angelegt hat. Schieben Sie diesen Ordner beiseite, und richten Sie die Bindung dann neu ein.',
  'said.enrol.not_written':
    'Die Bindung konnte nicht auf die Platte geschrieben werden. Prüfen Sie, ob auf der Platte Platz ist.',
  'said.enrol.not_erased':
    'Die Bindung konnte nicht von der Platte entfernt werden. Prüfen Sie den Zustandsordner.',
  'said.enrol.not_looked': 'Der Ordner {path} ließ sich nicht ansehen. Prüfen Sie den Zustandsordner.',
  'said.enrol.not_private':
    'Der Ordner {path} muss Ihnen allein gehören (Modus 700). Stellen Sie das her, und richten Sie die Bindung neu ein.',
  'said.enrol.different':
    'Was in {path} liegt, gehört zu einem anderen Environment oder einem anderen Verlauf. Nichts wurde gesendet. Schieben Sie diesen Ordner beiseite, um neu einzurichten.',
  'said.invitation.too_long':
    'Das ist länger, als eine Einladung sein kann. Fügen Sie den Installationsbefehl allein ein.',
  'said.invitation.no_endpoint':
    'Darin steht keine Adresse eines Core. Fügen Sie den ganzen Installationsbefehl ein, wie die Session ihn zeigt.',
  'said.invitation.bad_endpoint':
    'Die Adresse muss mit https beginnen (http nur auf diesem Rechner), ohne Benutzer, Abfrage oder etwas danach.',
  'said.invitation.several_endpoints':
    'Darin steht mehr als ein Core. Fügen Sie einen Installationsbefehl allein ein.',
  'said.invitation.no_grant':
    'Darin steht kein Code. Fügen Sie den ganzen Installationsbefehl ein, wie die Session ihn zeigt.',
  'said.invitation.bad_grant':
    'Der Code darin ist keiner. Fügen Sie den ganzen Installationsbefehl ein, wie die Session ihn zeigt.',
  'said.invitation.several_grants':
    'Darin steht mehr als ein Code. Fügen Sie einen Installationsbefehl allein ein.',
  'said.grant.invalid':
    'Core nimmt diese Einladung nicht mehr an: Sie gilt 30 Minuten und endet, wenn ihre Session gelöscht oder Core aktualisiert wird. Holen Sie einen neuen Befehl.',
  'said.grant.key_exists':
    'Dieses Environment hat schon einen Schlüssel: einen anderen, oder einen, der erneuert oder widerrufen wurde. Eine Einladung ersetzt ihn nie. Fragen Sie den Betreiber dieses Core nach einem erneuerten Schlüssel, und richten Sie die Bindung mit dessen Datei ein.',
  'said.grant.installers':
    'Dieser Core kann jetzt keine Rechner aufnehmen: Er hat keine Installationsdateien für sie oder keinen Platz für Schlüssel. Fragen Sie seinen Betreiber.',
  'said.grant.secret':
    'Core hat die Form des Schlüssels nicht angenommen, den diese App erzeugt hat. Aktualisieren Sie die App.',
  'said.grant.refused':
    'Core hat diesen Schlüssel zurückgewiesen: Er wurde widerrufen oder ersetzt, oder seine Session ist weg. Fragen Sie den Betreiber dieses Core nach einem neuen.',
  'said.credential.unreadable':
    'Die Zugangsdatei konnte nicht gelesen werden. Prüfen Sie, ob sie eine Datei ist und Sie sie lesen dürfen.',
  'said.credential.invalid': 'Die Zugangsdatei ist nicht gültig: {why}.',
  'said.credential.large': 'sie ist größer als 16 KiB',
  'said.credential.not_one': 'sie ist kein einzelnes JSON-Objekt',
  'said.credential.no_object': 'sie ist kein Objekt',
  'said.credential.unknown_member': 'sie enthält ein Feld, das nicht hineingehört',
  'said.credential.twice': 'ein Feld steht zweimal darin',
  'said.credential.member': '{place} fehlt oder ist nicht, wie es sein soll',

  // What did not settle
  'said.cleanup.last_run': 'Zurückgelassen vom letzten Lauf dieser App, der ohne Warnung endete.',
  'said.cleanup.last_run.why': 'Zurückgelassen vom letzten Lauf dieser App: {why}.',
  'said.cleanup.last_run.ended': 'Zurückgelassen vom letzten Lauf dieser App. Jetzt beendet.',
  'said.cleanup.forced':
    'Auf das Wort eines Menschen hin als erledigt eingetragen. Das Ende ist nicht belegt.',
  'said.cleanup.turn_forced':
    'Er wurde auf das Wort eines Menschen hin als erledigt eingetragen. Sein Ende ist nicht belegt.',
  'said.cleanup.owner': 'Ein Prozess eines früheren Laufs',
  'said.cleanup.owner.looking': '{agent} (beim Nachsehen)',
  'said.cleanup.owner.npm': 'Vorbereitung (npm-Pakete)',
  'said.cleanup.owner.python': 'Vorbereitung (Python-Pakete)',
  'said.cleanup.again': 'ein neuer Versuch läuft',
  'said.cleanup.nothing': 'nichts war abzuschließen',
  'said.cleanup.failed': 'der Abschluss ist fehlgeschlagen',
  'said.cleanup.settlement': 'der Abschluss ist fehlgeschlagen ({error})',
  'said.cleanup.start_pending': 'der Start ist nicht zurückgekehrt',
  'said.cleanup.natural': 'der Agent meldete sich fertig, schloss aber innerhalb von 10 s nicht ab',
  'said.cleanup.no_stop': 'der Agent weigerte sich aufzuhören ({error})',
  'said.cleanup.unconfirmed': 'der Agent hat sein Ende innerhalb von 30 s nicht bestätigt',
  'said.cleanup.preparation': 'die Vorbereitung ist nicht zurückgekehrt',
  'said.cleanup.no_end': 'innerhalb von 10 s nicht beendet',
  'said.cleanup.no_close': 'innerhalb von 10 s nicht geschlossen',
  'said.cleanup.close_failed': 'das Schließen ist fehlgeschlagen ({error})',
  'said.cleanup.read': 'ein Lesevorgang ist nicht beendet',
  'said.cleanup.process': 'Prozess {pids} ist nicht beendet',
  'said.cleanup.processes': 'die Prozesse {pids} sind nicht beendet',
  'said.cleanup.processes_more': 'die Prozesse {pids} und weitere sind nicht beendet',
  'said.cleanup.unlisted': 'die Prozesse dieses Rechners ließen sich nicht auflisten',
  'said.cleanup.output_open': 'etwas hält seine Ausgabe noch offen',
  'said.cleanup.file_unknown': 'Ob die Datei da ist, lässt sich nicht feststellen.',
  'said.cleanup.file_looking': 'Es wird nachgesehen, ob die Datei da ist.',
  'said.cleanup.step_looking': 'Es wird nachgesehen, ob noch etwas davon läuft.',
  'said.cleanup.step_over':
    'Ein Schritt zur Vorbereitung dieses Ordners wurde unterbrochen. Nichts davon läuft noch; was er getan hat, ist nicht bekannt.',
  'said.cleanup.step_open':
    'Ein Schritt zur Vorbereitung dieses Ordners wurde unterbrochen, und vielleicht läuft er noch.',
} as const satisfies Readonly<Record<SentenceCode, Text>>;
