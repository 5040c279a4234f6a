import type { Settings } from '../src/contract/settings.ts';
import type { ConnectionReasonCode, View } from '../src/contract/view.ts';
import type { WorstState } from '../src/contract/worst-state.ts';

/** Texts outside the window: tray, notifications, the system's dialogues. Each language says all of them. */
interface Words {
  turns(count: number): string;
  prompts(count: number): string;
  readonly tray: {
    /** Null where the count of prompts or Turns says it. */
    readonly state: Readonly<Record<Exclude<WorstState, 'needs_you' | 'working'>, string>>;
    readonly connecting: string;
    turnsOpen(count: number): string;
    readonly binding: Readonly<Record<View['bindings'][number]['connection']['state'], string>>;
    permissionIn(binding: string): string;
    questionIn(binding: string): string;
    readonly open: string;
    readonly start: string;
    readonly pause: string;
    readonly resume: string;
    readonly stopAfter: string;
    stopNow(open: number): string;
    readonly quit: string;
  };
  readonly note: {
    needsYou(binding: string): string;
    readonly subject: Readonly<Record<'command' | 'file_change' | 'network' | 'tool' | 'question', string>>;
    questions(count: number): string;
    expires(minutes: number): string;
    readonly open: string;
    readonly deny: string;
    readonly unsettled: string;
    readonly unsettledText: string;
    parked(binding: string): string;
    parkedWhy(code: ConnectionReasonCode | null): string;
    offline(binding: string): string;
    readonly offlineText: string;
  };
  readonly dialog: {
    agentIn(agent: string, binding: string): string;
    more(count: number): string;
    readonly stays: string;
    endNow(count: number): string;
    end(count: number): string;
    endAndQuit(count: number): string;
    readonly quitAfter: string;
    readonly back: string;
    readonly unproven: string;
    readonly unprovenText: string;
    readonly wait: string;
    readonly leave: string;
    readonly notStarted: string;
    readonly turnNotStarted: string;
  };
}

const en: Words = {
  turns: (count) => (count === 1 ? '1 Turn' : `${count} Turns`),
  prompts: (count) => (count === 1 ? '1 prompt needs you' : `${count} prompts need you`),
  tray: {
    state: {
      disconnected: 'not connected',
      paused: 'paused, takes no new work',
      stopped: 'stopped',
      connected: 'connected',
    },
    connecting: 'connecting',
    turnsOpen: (count) => `${en.turns(count)} open`,
    binding: {
      serving: 'connected',
      bootstrapping: 'connecting',
      dialing: 'connecting',
      settling: 'waiting for cleanup',
      waiting: 'lost, trying again',
      suspended: 'suspended by Core',
      parked: 'parked',
      stopped: 'stopped',
    },
    permissionIn: (binding) => `Permission in ${binding}`,
    questionIn: (binding) => `Question in ${binding}`,
    open: 'Open window',
    start: 'Start',
    pause: 'Pause: take no new work',
    resume: 'Resume',
    stopAfter: 'Stop after current Turns',
    stopNow: (open) => (open === 0 ? 'Stop now' : `Stop now, end ${en.turns(open)}…`),
    quit: 'Quit',
  },
  note: {
    needsYou: (binding) => `${binding} needs you`,
    subject: {
      command: 'A command waits for your answer',
      file_change: 'A file change waits for your answer',
      network: 'Access to a host waits for your answer',
      tool: 'A tool call waits for your answer',
      question: 'A tool call waits for your answer',
    },
    questions: (count) => (count === 1 ? 'A question' : `${count} questions`),
    expires: (minutes) => `, expires in ${minutes === 1 ? '1 minute' : `${minutes} minutes`}`,
    open: 'Open',
    deny: 'Deny',
    unsettled: 'Something did not settle',
    unsettledText: 'What was started has not been proven gone',
    parked: (binding) => `${binding} is parked`,
    parkedWhy: (code) => {
      switch (code) {
        case 'credential_rejected':
          return 'Core rejected the credential';
        case 'binding_retired':
          return 'Core has retired it';
        case 'binding_mismatch':
        case 'other_key_bound':
          return 'Core knows it otherwise';
        case 'incompatible_version':
          return 'Core speaks another version';
        case 'credential_missing':
          return 'Its credential is gone';
        default:
          return 'It does not try again by itself';
      }
    },
    offline: (binding) => `${binding} has been offline for 2 minutes`,
    offlineText: 'It goes on trying by itself',
  },
  dialog: {
    agentIn: (agent, binding) => `${agent} in ${binding}`,
    more: (count) => `and ${count} more`,
    stays: 'Their work up to here stays in the folder. Each is shown until its end is confirmed.',
    endNow: (count) => `End ${en.turns(count)} now?`,
    end: (count) => `End ${en.turns(count)}`,
    endAndQuit: (count) => `End ${en.turns(count)} and quit`,
    quitAfter: 'Quit after they have ended',
    back: 'Go back',
    unproven: 'Something has not been proven gone',
    unprovenText: 'If you leave now, the next start looks for it and shows it.',
    wait: 'Keep waiting',
    leave: 'Leave without proof',
    notStarted: 'Agent Runtime could not start',
    turnNotStarted: 'The Turn was not started',
  },
};

const de: Words = {
  turns: (count) => (count === 1 ? '1 Turn' : `${count} Turns`),
  prompts: (count) => (count === 1 ? '1 Anfrage wartet auf Sie' : `${count} Anfragen warten auf Sie`),
  tray: {
    state: {
      disconnected: 'nicht verbunden',
      paused: 'pausiert, nimmt keine neue Arbeit an',
      stopped: 'gestoppt',
      connected: 'verbunden',
    },
    connecting: 'verbindet',
    turnsOpen: (count) => `${de.turns(count)} offen`,
    binding: {
      serving: 'verbunden',
      bootstrapping: 'verbindet',
      dialing: 'verbindet',
      settling: 'wartet auf Aufräumen',
      waiting: 'verloren, wird erneut versucht',
      suspended: 'von Core ausgesetzt',
      parked: 'geparkt',
      stopped: 'gestoppt',
    },
    permissionIn: (binding) => `Erlaubnis in ${binding}`,
    questionIn: (binding) => `Frage in ${binding}`,
    open: 'Fenster öffnen',
    start: 'Starten',
    pause: 'Pause: keine neue Arbeit annehmen',
    resume: 'Fortsetzen',
    stopAfter: 'Nach den laufenden Turns stoppen',
    stopNow: (open) => (open === 0 ? 'Jetzt stoppen' : `Jetzt stoppen, ${de.turns(open)} beenden…`),
    quit: 'Beenden',
  },
  note: {
    needsYou: (binding) => `${binding} wartet auf Sie`,
    subject: {
      command: 'Ein Befehl wartet auf Ihre Antwort',
      file_change: 'Eine Dateiänderung wartet auf Ihre Antwort',
      network: 'Ein Zugriff auf einen Host wartet auf Ihre Antwort',
      tool: 'Ein Werkzeugaufruf wartet auf Ihre Antwort',
      question: 'Ein Werkzeugaufruf wartet auf Ihre Antwort',
    },
    questions: (count) => (count === 1 ? 'Eine Frage' : `${count} Fragen`),
    expires: (minutes) => `, läuft ab in ${minutes === 1 ? '1 Minute' : `${minutes} Minuten`}`,
    open: 'Öffnen',
    deny: 'Ablehnen',
    unsettled: 'Etwas ist nicht abgeschlossen',
    unsettledText: 'Das Ende des Gestarteten ist nicht belegt',
    parked: (binding) => `${binding} ist geparkt`,
    parkedWhy: (code) => {
      switch (code) {
        case 'credential_rejected':
          return 'Core weist die Zugangsdaten zurück';
        case 'binding_retired':
          return 'Core hat sie aufgelöst';
        case 'binding_mismatch':
        case 'other_key_bound':
          return 'Core kennt sie anders';
        case 'incompatible_version':
          return 'Core spricht eine andere Version';
        case 'credential_missing':
          return 'Die Zugangsdaten sind weg';
        default:
          return 'Sie versucht es nicht von selbst wieder';
      }
    },
    offline: (binding) => `${binding} ist seit 2 Minuten offline`,
    offlineText: 'Die Versuche gehen von selbst weiter',
  },
  dialog: {
    agentIn: (agent, binding) => `${agent} in ${binding}`,
    more: (count) => `und ${count} weitere`,
    stays:
      'Was sie bis hierhin getan haben, bleibt im Ordner. Jeder wird gezeigt, bis sein Ende bestätigt ist.',
    endNow: (count) => `${de.turns(count)} jetzt beenden?`,
    end: (count) => `${de.turns(count)} beenden`,
    endAndQuit: (count) => `${de.turns(count)} und die App beenden`,
    quitAfter: 'App beenden, wenn sie zu Ende sind',
    back: 'Zurück',
    unproven: 'Bei etwas ist das Ende nicht belegt',
    unprovenText: 'Wenn Sie jetzt gehen, sucht der nächste Start danach und zeigt es.',
    wait: 'Weiter warten',
    leave: 'Ohne Beleg gehen',
    notStarted: 'Agent Runtime konnte nicht starten',
    turnNotStarted: 'Der Turn wurde nicht gestartet',
  },
};

const languages = { en, de } as const;
let current: Words = en;

/** In the chosen language, else in the first of the system's that there are texts for, else in English. */
export function speak(choice: Settings['language'], system: readonly string[]): void {
  const known = (['de', 'en'] as const).find((name) => {
    const first = system.find((tag) => /^(de|en)(-|$)/i.test(tag));
    return first?.toLowerCase().startsWith(name);
  });
  current = languages[choice === 'system' ? (known ?? 'en') : choice];
}

export const words = (): Words => current;
