import { agentSentences } from './sentences-agents.ts';

/** A sentence, or its forms by number; `{name}` is a place to fill, and a place never holds the end of a sentence. */
export type Sentence = string | { readonly one: string; readonly other: string };

/**
 * What a Runtime says in words of its own, as a finite list: health, checks, refusals, reasons, remedies. It says them
 * in English, in the view, in answers and in history. A front end of another language finds the code of a sentence
 * here and has its own words for it; a sentence that is not here is shown as it came. What an agent or Core wrote is
 * never of this list. `test/unit/renderer/sentences.test.ts` holds the list against the places that say them.
 */
export const sentences = {
  ...agentSentences,

  // Health: what was found, then what to do
  'said.health.credential_store.next':
    'Unlock or start the system keychain and try again, or choose another place in Settings.',
  'said.health.folder_missing': 'The folder {path} is missing or cannot be opened.',
  'said.health.folder_missing.next': 'Create the folder or make it writable for you, then try again.',
  'said.health.folder_read_only': 'The folder {path} can only be read.',
  'said.health.folder_read_only.next':
    'Agents can read there but change nothing. Make the folder writable for you if they should.',
  'said.health.disk_full.turns': 'The Turns of the local Core could not be written to disk.',
  'said.health.disk_full.next': 'Free some space on the disk that holds the state folder.',
  'said.health.set_aside': 'A state file was set aside as {path}.',
  'said.health.set_aside.credentials': 'The file of stored credentials was set aside as {path}.',
  'said.health.set_aside.turns': 'The Turns of the local Core were set aside as {path}.',
  'said.health.set_aside.next':
    'The file could not be understood and was kept under another name. Look into it or remove it.',
  'said.health.binding_unreadable': 'The receipt of a binding cannot be read: {path}.',
  'said.health.binding_unreadable.next':
    'Nothing is served from there. Bring environment.json back from a copy, or move the folder away and enrol again.',
  'said.health.no_agent': 'No agent was found on this machine.',
  'said.health.no_agent.next':
    'Install Claude Code and sign in with `claude auth login`, or try the demo agent.',
  'said.health.agent_not_started': 'The agent {agent} could not be started.',
  'said.health.agent_not_started.next':
    'Put right what it names, then send the message again. Nothing was submitted to the agent.',
  'said.health.cleanup': 'Something that was started has not been proven gone.',
  'said.health.cleanup.next': 'Look at what has not settled, try again, or record it as gone.',
  'said.health.orphans_ended': {
    one: '{count} process group of the last run, which ended without warning, ended now.',
    other: '{count} process groups of the last run, which ended without warning, ended now.',
  },
  'said.health.orphans_ended.next': 'Nothing to do. What the last run left behind has ended.',
  'said.health.no_tray': 'This desktop shows no tray icon, so closing the window only minimises it.',
  'said.health.no_tray.next':
    'Starting the app again brings the window to the front. On GNOME, the AppIndicator extension shows tray icons.',
  'said.health.log': 'Lines of the log could not be written to disk.',
  'said.health.log.next':
    'Check that the folder logs in the state folder is writable and the disk has room. Lines are missing from the log.',
  'said.health.login_item': 'Start at login could not be changed.',
  'said.health.login_item.next':
    'Look into the autostart folder of your desktop: the entry of this app cannot be written, is another one’s, or was switched off there.',
  'said.health.history': 'The history could not be written to disk.',
  'said.health.history.next': 'Check that the state folder is writable and the disk has room.',

  // Credential store
  'said.keychain.none': 'There is no system keychain here.',
  'said.keychain.locked': 'The system keychain is locked.',
  'said.keychain.locked_or_lost': 'The keychain is locked, or the entry of this binding was removed from it.',
  'said.keychain.timeout': 'The system keychain did not answer within 5 s.',
  'said.keychain.refused': 'The system keychain refused.',

  // Checks
  'said.check.state_folder': 'State folder',
  'said.check.disk': 'Disk',
  'said.check.store': 'Credential store',
  'said.check.local_core': 'Local Core',
  'said.check.core_of': 'Core of {binding}',
  'said.check.folder_of': 'Folder of {binding}',
  'said.check.network': 'Proxy and certificates',
  'said.check.clock': 'Clock',
  'said.check.agents': 'Agents',
  'said.check.cleanup': 'Cleanup',
  'said.check.folder.ok': '{path} can be read and written.',
  'said.check.folder.bad': '{path} cannot be written.',
  'said.check.folder.next': 'Make it yours and writable, or name another folder with --state-dir.',
  'said.check.disk.low': '{mb} MB are free.',
  'said.check.disk.free': '{gb} GB are free.',
  'said.check.disk.unknown': 'How much is free cannot be told here.',
  'said.check.disk.next': 'Free some space.',
  'said.check.store.works': 'Works ({backend}).',
  'said.check.store.needed':
    'Unlock or start it and try again, or choose another place for credentials in Settings.',
  'said.check.store.unneeded':
    'Nothing needs it now. To bind this machine to a Core later, unlock or start it.',
  'said.check.clock.right': 'It agrees with {host}, to a minute.',
  'said.check.clock.ahead': {
    one: 'It is {count} minute ahead of {host}.',
    other: 'It is {count} minutes ahead of {host}.',
  },
  'said.check.clock.behind': {
    one: 'It is {count} minute behind {host}.',
    other: 'It is {count} minutes behind {host}.',
  },
  'said.check.clock.unknown': 'What time {host} has could not be learnt.',
  'said.check.clock.next':
    'Deadlines may look wrong. Turn on automatic time in the system settings, then check again.',
  'said.check.connected': 'Connected.',
  'said.check.not_connected': 'Not connected ({state}).',
  'said.check.fix': 'Fix the cause and try again.',
  'said.check.tries_on': 'It goes on trying by itself.',
  'said.check.ready': 'Ready.',
  'said.check.ready_version': 'Ready, version {version}.',
  'said.check.not_available': 'Not available.',
  'said.check.settled': 'Everything that was started has settled or still works.',
  'said.check.unsettled': {
    one: '{count} thing has not been proven gone.',
    other: '{count} things have not been proven gone.',
  },
  'said.check.unsettled.next': 'agent-runtime cleanup lists them; cleanup retry ID tries again.',

  'said.net.direct': 'No proxy: Settings say to reach every Core directly.',
  'said.net.no_address':
    'The proxy of Settings has no address that can be used, so every Core is reached directly.',
  'said.net.no_address.next': 'Name its address in Settings, or choose another way.',
  'said.net.manual': 'Proxy {host}, from Settings.',
  'said.net.manual_user': 'Proxy {host} with a user and a password, from Settings.',
  'said.net.no_password': 'It is given a user, and no password is kept for it.',
  'said.net.no_password.next': 'Give its password in Settings.',
  'said.net.variable': 'Proxy {host}, from {variable} of the environment.',
  'said.net.left_out': 'Proxy {host}, from {variable} of the environment, but NO_PROXY leaves out {core}.',
  'said.net.bad_variable': '{variable} of the environment names no proxy that can be used.',
  'said.net.bad_variable.next': 'Put it right in the environment, or name a proxy in Settings.',
  'said.net.none': 'No proxy: the environment names none.',
  'said.net.none_desktop': 'No proxy: neither the environment nor the desktop names one.',
  'said.net.desktop': 'Proxy {host}, as the desktop names it.',
  'said.net.desktop_silent':
    'The desktop did not say within 5 s whether there is a proxy, so Core is reached directly.',
  'said.net.desktop_silent.next': 'Look at the proxy settings of the system, or name a proxy in Settings.',
  'said.net.ca_none': 'Certificates: the built-in authorities.',
  'said.net.ca': 'Certificates: the built-in authorities and {count} more of {path}, from Settings.',
  'said.net.ca_expired': 'Expired of these: {count}.',
  'said.net.ca_expired.next': 'Ask whoever runs your network for a new file of authorities.',
  'said.net.ca_bad.next':
    'Until then nobody of {path} is believed. Put the file right, or name another in Settings.',

  // Why a connection is not there
  'said.conn.network': 'No connection to {host}.',
  'said.conn.name_not_found': 'Name not found: {host}.',
  'said.conn.refused': '{host} refused the connection.',
  'said.conn.timeout': 'Core did not answer within 10 s.',
  'said.conn.tls.expired':
    'The certificate of {host} has expired. Check the clock of this machine, or ask whoever runs this Core.',
  'said.conn.tls.early': 'The certificate of {host} is not valid yet. Check the clock of this machine.',
  'said.conn.tls.name': 'The certificate is not one for {host}. Something else may answer in its place.',
  'said.conn.tls.none': '{host} does not speak TLS there. Check the address.',
  'said.conn.tls.issuer':
    'Certificate of {host} not trusted: its issuer is unknown here ({code}). An extra authority can be named in Settings.',
  'said.conn.proxy_auth': 'The proxy wants a password (407). Set its user and password in Settings.',
  'said.conn.proxy_unreachable':
    'The proxy cannot be reached. Check its address in Settings, or the network.',
  'said.conn.proxy_refused': 'The proxy does not let this through ({code}). Ask whoever runs it.',
  'said.conn.captive_portal':
    'This network wants a sign-in first. Open a web page in a browser, sign in, then try again.',
  'said.conn.http_error': 'Core answered with an error.',
  'said.conn.http_status': 'Core answered {code}.',
  'said.conn.not_found': 'Core does not know this address: it answered {code}.',
  'said.conn.closed_by_core': 'Core closed the connection.',
  'said.conn.read_timeout': 'Nothing was heard from Core for three intervals.',
  'said.conn.write_failed': 'Core did not take what was sent within 10 s.',
  'said.conn.frame_too_large': 'Core sent more than a frame may carry.',
  'said.conn.bad_answer': 'The answer of this address is not one of a Core.',
  'said.conn.flapping': 'Lost several times within a minute. Another program may use the same credential.',
  'said.conn.version.other':
    'Core speaks another version than this app ({own}). Update the app, or Core must be updated.',
  'said.conn.version': 'Core speaks {theirs}, this app {own}. Update the app, or Core must be updated.',
  'said.conn.credential_rejected':
    'Core rejected the credential: it was revoked or replaced. Enrol again, or hand over a new bootstrap file.',
  'said.conn.retired': 'Core retired this binding. Ask whoever runs this Core, or remove the binding.',
  'said.conn.mismatch':
    'Core answered for another device or address than the one bound here. Nothing more was sent to it.',
  'said.conn.other_key':
    'Another key is bound to this Environment. Rotate that key instead of using a second one.',
  'said.conn.no_store': 'The credential store did not answer. The credential was neither read nor changed.',
  'said.conn.missing': 'No credential is stored for this binding. Enrol again.',
  'said.conn.workspace':
    'The bound folder is missing or not usable. Create it or fix its permissions, then try again.',
  'said.conn.suspended': 'Core suspended this Environment.',

  // Refusals of commands
  'said.no.fault': 'Something went wrong inside the app. The log has the time and the name of the fault.',
  'said.no.command': 'There is no such command.',
  'said.no.request': 'The command {command} was not understood.',
  'said.no.local_core': 'There is no local Core here. Turns of other Cores are started by them.',
  'said.no.turn_record': 'What this Turn wrote is no longer kept here.',
  'said.no.paused': 'Paused: no new work is taken. Resume first.',
  'said.no.binding': 'There is no binding named {binding}.',
  'said.no.enrolled_binding': 'There is no enrolled binding named {binding}.',
  'said.no.cleanup': 'There is nothing left to clean up under this id.',
  'said.no.preparation': 'There is no step of a preparation under way under this id.',
  'said.no.rule': 'There is no rule of this id.',
  'said.no.prompt': 'Nothing waits for an answer under this id.',
  'said.no.allow_or_deny': 'Allow or deny it.',
  'said.no.answer_or_cancel': 'Answer its questions, or cancel.',
  'said.no.meanwhile': 'It was decided or withdrawn meanwhile. This answer was not applied.',
  'said.no.core_answers': 'This Runtime is set to let Core answer. The answer was not applied.',
  'said.no.agent_refused': 'The agent did not take the answer. The prompt is still open; try again.',
  'said.no.question': 'The answer names a question that was not asked.',
  'said.no.rule_input': 'Another input can be allowed once, not with a rule.',
  'said.no.other_input':
    'This agent takes no other input here. Allow it as it is, or deny it with a message.',
  'said.no.rule_here': 'No rule can cover this request. Allow it once or for this Turn, or deny it.',
  'said.no.already': 'Already {outcome}. Your answer was not applied.',
  'said.no.session': 'There is no Session with this id.',
  'said.no.session_agent': 'This Session belongs to {agent}. Start a new one for another agent.',
  'said.no.turn': 'There is no Turn with this id.',
  'said.no.turn_ended': 'This Turn has ended already.',
  'said.no.turn_input': 'This Turn takes no input now: it does not run, or its agent does not support it.',
  'said.no.agent_kind': 'There is no agent of the kind {agent} here. Agents there are: {kinds}.',
  'said.no.agent_available': '{agent} is not available.',
  'said.no.empty_task': 'Write what the agent should do.',
  'said.no.long_task': 'The text is too long for one Turn.',
  'said.no.task_disk':
    'The Turn was not started: it could not be written to disk. Check that the disk has room.',
  'said.no.file_written': 'The file {path} could not be written. Check that the disk has room.',
  'said.no.file_read': 'The file {path} could not be read. Check that it is a file and that you may read it.',
  'said.no.folder_made':
    'The folder {path} could not be made. Name another one, or make it writable for you.',
  'said.no.folder_parent': 'The folder {path} could not be made. Make its parent writable for you.',
  'said.no.proxy_address':
    'The address of the proxy must look like http://proxy.example.com:3128, with nothing after the port.',
  'said.no.proxy_secret':
    'The address of the proxy must hold no user and no password. They have fields of their own.',
  'said.no.proxy_colon': 'The name of a proxy user cannot hold a colon.',
  'said.no.password_kept': 'The password was not kept. Unlock or start it and try again.',
  'said.no.ca_path': 'Name the whole path of the file of authorities.',
  'said.no.ca_read': 'The file of authorities cannot be read. Check that it is there and yours to read.',
  'said.no.ca_empty': 'The file of authorities holds no certificate in PEM form.',
  'said.no.ca_broken': 'A certificate in the file of authorities cannot be read. Ask for the file anew.',
  'said.no.update_ready': 'No update is ready to be installed.',
  'said.no.update_self': 'This app is not updated by itself.',
  'said.no.update_now': 'The update cannot do that now.',
  'said.no.update_turn': 'A Turn is open. The update is installed when it has ended.',
  'said.no.update_cleanup': 'Something has not settled. The update waits for it.',
  'said.no.update_transfer': 'Work on a folder is under way. The update waits for it.',
  'said.no.update_enrolment': 'An enrolment is open. Finish or close it first.',

  // Enrolling, rotating, removing
  'said.enrol.busy': 'The binding is just being made. Wait for its end.',
  'said.enrol.not_removed':
    'Nothing was removed. Unlock it and try again, or remove the binding and leave the entry where it is.',
  'said.enrol.no_link': 'No link has brought an invitation.',
  'said.enrol.address':
    'The address of Core must be wss (ws on this machine only) and end in /api/v1/agent-daemon/ws, with nothing after it.',
  'said.enrol.environment': 'The Environment is a canonical UUID in lower case.',
  'said.enrol.closed': 'This enrolment was closed. Begin again.',
  'said.enrol.many': 'Too many enrolments are open. Close one first.',
  'said.enrol.over': 'This enrolment is under way or over.',
  'said.enrol.broke_off': 'The enrolment broke off inside the app.',
  'said.enrol.other_environment': 'The credential file is for another Environment than the one named.',
  'said.enrol.other_binding': 'The credential file is for another Environment than this binding.',
  'said.enrol.frozen':
    'The Session is for the folder {path} and no other. Another folder needs another Session.',
  'said.enrol.frozen_name':
    'The Session is for the folder {path} and no other. Name that folder, or use another Session.',
  'said.enrol.name': 'The name takes letters, digits, dot, dash and underscore, at most 64; not “local”.',
  'said.enrol.name_taken': 'There is a binding named {binding} already. Choose another name.',
  'said.enrol.no_folder': 'Name the folder to bind first.',
  'said.enrol.folder_changed': 'The folder is not the one any more that was confirmed. Look at it again.',
  'said.enrol.bound': 'This Environment is bound to {path} and stays there.',
  'said.enrol.other_key':
    'Another key is bound to this Environment, and stays so. Rotate that key instead of using a second one.',
  'said.enrol.no_store':
    'The credential store did not answer. Nothing was read or changed. Unlock or start the system keychain and try again, or choose a file for the credential.',
  'said.enrol.folder.not_absolute':
    'The folder must be given whole, from the root on, and in its plain form.',
  'said.enrol.folder.root': 'The root of the disk cannot be bound. Choose a folder of its own.',
  'said.enrol.folder.home': 'Your home folder itself cannot be bound. Choose a folder in it.',
  'said.enrol.folder.holds_home': 'This folder contains your home folder and cannot be bound.',
  'said.enrol.folder.own_state': 'This folder belongs to this app’s own state and cannot be bound.',
  'said.enrol.folder.holds_own_state': 'This folder contains this app’s own state and cannot be bound.',
  'said.enrol.folder.not_a_folder': 'This is not a folder.',
  'said.enrol.folder.missing': 'This folder does not exist. Create it, then try again.',
  'said.enrol.folder.unreachable':
    'This folder cannot be looked at: a part of the way is a broken link or not permitted.',
  'said.enrol.receipts': 'The bindings of this machine could not be read. Check the state folder.',
  'said.enrol.foreign_state':
    'There is state of this Environment in {path} that no enrolment made. Move that folder away, then enrol again.',
  'said.enrol.not_written': 'The binding could not be written to disk. Check that the disk has room.',
  'said.enrol.not_erased': 'The binding could not be removed from disk. Check the state folder.',
  'said.enrol.not_looked': 'The folder {path} could not be looked at. Check the state folder.',
  'said.enrol.not_private': 'The folder {path} must be yours alone (mode 700). Make it so and enrol again.',
  'said.enrol.different':
    'What is kept in {path} belongs to a different Environment or history. Nothing was sent. Move that folder away to enrol anew.',
  'said.invitation.too_long': 'This is longer than an invitation can be. Paste the install command alone.',
  'said.invitation.no_endpoint':
    'There is no address of a Core in it. Paste the whole install command, as its Session shows it.',
  'said.invitation.bad_endpoint':
    'The address must be https (http on this machine only), without a user, a query or anything after it.',
  'said.invitation.several_endpoints': 'There is more than one Core in it. Paste one install command alone.',
  'said.invitation.no_grant':
    'There is no code in it. Paste the whole install command, as its Session shows it.',
  'said.invitation.bad_grant':
    'The code in it is not one. Paste the whole install command, as its Session shows it.',
  'said.invitation.several_grants': 'There is more than one code in it. Paste one install command alone.',
  'said.grant.invalid':
    'Core does not take this invitation any more: it lasts 30 minutes and ends when its Session is deleted or Core is updated. Fetch a fresh command.',
  'said.grant.key_exists':
    'This Environment already has a key: another one, or one that was rotated or revoked. An invitation never replaces it. Ask whoever runs this Core to rotate the key, and enrol with its file.',
  'said.grant.installers':
    'This Core cannot take machines now: it has no installers for them or no place for keys. Ask whoever runs it.',
  'said.grant.secret': 'Core did not take the form of the key that this app made. Update the app.',
  'said.grant.refused':
    'Core refused this key: it was revoked or replaced, or its Session is gone. Ask whoever runs this Core for a fresh one.',
  'said.credential.unreadable':
    'The credential file could not be read. Check that it is a file and that you may read it.',
  'said.credential.invalid': 'The credential file is not valid: {why}.',
  'said.credential.large': 'it is larger than 16 KiB',
  'said.credential.not_one': 'it is not one JSON object',
  'said.credential.no_object': 'it is not an object',
  'said.credential.unknown_member': 'it has a member that does not belong there',
  'said.credential.twice': 'a member is given twice',
  'said.credential.member': '{place} is missing or not as it should be',

  // What did not settle
  'said.cleanup.last_run': 'Left by the last run of this app, which ended without warning.',
  'said.cleanup.last_run.why': 'Left by the last run of this app: {why}.',
  'said.cleanup.last_run.ended': 'Left by the last run of this app. Ended now.',
  'said.cleanup.forced': 'Recorded as gone by a person. Its end was not proven.',
  'said.cleanup.turn_forced': 'It was recorded as gone by a person. Its end was not proven.',
  'said.cleanup.owner': 'A process of an earlier run',
  'said.cleanup.owner.looking': '{agent} (looking at it)',
  'said.cleanup.owner.npm': 'Preparation (npm packages)',
  'said.cleanup.owner.python': 'Preparation (Python packages)',
  'said.cleanup.again': 'trying again',
  'said.cleanup.nothing': 'nothing to settle',
  'said.cleanup.failed': 'settling failed',
  'said.cleanup.settlement': 'settlement failed ({error})',
  'said.cleanup.start_pending': 'the native start has not returned',
  'said.cleanup.natural': 'it said it was done but did not settle within 10 s',
  'said.cleanup.no_stop': 'the agent refused to stop ({error})',
  'said.cleanup.unconfirmed': 'it did not confirm its end within 30 s',
  'said.cleanup.preparation': 'its preparation has not returned',
  'said.cleanup.no_end': 'it did not end within 10 s',
  'said.cleanup.no_close': 'it did not close within 10 s',
  'said.cleanup.close_failed': 'closing it failed ({error})',
  'said.cleanup.read': 'a read of it has not ended',
  'said.cleanup.process': 'process {pids} did not end',
  'said.cleanup.processes': 'processes {pids} did not end',
  'said.cleanup.processes_more': 'processes {pids} and more did not end',
  'said.cleanup.unlisted': 'the processes of this machine could not be listed',
  'said.cleanup.output_open': 'something still holds its output open',
  'said.cleanup.file_unknown': 'It cannot be told whether the file is there.',
  'said.cleanup.file_looking': 'Looking whether the file is there.',
  'said.cleanup.step_looking': 'Looking whether anything of it still runs.',
  'said.cleanup.step_over':
    'A step of preparing this folder was interrupted. Nothing of it runs any more; what it did is not known.',
  'said.cleanup.step_open': 'A step of preparing this folder was interrupted, and it may still run.',
} as const satisfies Readonly<Record<string, Sentence>>;
export type SentenceCode = keyof typeof sentences;
