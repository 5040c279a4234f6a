import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { de } from '../../../renderer/i18n/de.ts';
import { en } from '../../../renderer/i18n/en.ts';
import { catalogues } from '../../../renderer/i18n/catalogues.ts';
import { said, saidOf } from '../../../renderer/i18n/said.ts';
import { setCatalogue } from '../../../renderer/i18n/t.ts';
import { connectionReasonCodes } from '../../../src/contract/view.ts';
import { sentences, type Sentence } from '../../../src/contract/sentences.ts';
import { failureSentence } from '../../../src/app/connection-words.ts';
import { healthItems } from '../../../src/observe/health.ts';
import { transient, type FailureCode } from '../../../src/observe/failure.ts';

const forms = (sentence: Sentence): readonly string[] =>
  typeof sentence === 'string' ? [sentence] : [sentence.one, sentence.other];
const entries: readonly (readonly [string, Sentence])[] = Object.entries(sentences);

const sources = (folder: string): readonly (readonly [string, string])[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [join(folder, name), readFileSync(join(folder, name), 'utf8')] as const);

/** String literals of a file that are whole sentences, with `7` at each place. */
function sentencesOf(text: string): readonly string[] {
  const literals = [...text.matchAll(/'((?:[^'\\\n]|\\.)+)'|`((?:[^`\\]|\\.)+)`/g)];
  return literals
    .map(([, plain, template]) =>
      (plain ?? template ?? '')
        .replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '7')
        .replace(/^7 (?=(?:Nothing|The|Expired) )/, ''),
    )
    .filter((literal) => /^[A-Z7][^]* [^]*[a-z0-9)][.]$/.test(literal));
}

describe('the sentences of a Runtime', () => {
  test('each has its words in both languages', () => {
    for (const [code] of entries) {
      expect(en, code).toHaveProperty([code]);
      expect(de, code).toHaveProperty([code]);
    }
  });

  test('each is found again by what was said, with what stands at its places', () => {
    for (const [code, sentence] of entries) {
      for (const form of forms(sentence)) {
        const places = [...form.matchAll(/\{(\w+)\}/g)].map(([, place]) => place ?? '');
        const text = form.replace(/\{(\w+)\}/g, (_, place: string) =>
          place === 'count' ? '3' : `<${place}>`,
        );
        const params = Object.fromEntries(
          places.map((place) => [place, place === 'count' ? '3' : `<${place}>`]),
        );
        expect(saidOf(text), form).toEqual({ code, params });
      }
    }
  });

  /** Put together from parts that do not stand side by side in the source. */
  const composed: ReadonlySet<string> = new Set([
    'said.agent.not_available',
    'said.agent.missing_there',
    'said.health.folder_missing',
    'said.health.orphans_ended',
    'said.check.ready_version',
    'said.check.unsettled',
    'said.conn.http_error',
    'said.cleanup.processes_more',
  ]);
  test('each is said somewhere: its fixed parts stand in the source', () => {
    const said = [...sources('src'), ...sources('electron')]
      .filter(([name]) => !name.includes('contract/sentences'))
      .map(([, text]) => text)
      .join('\n');
    const parts = entries.flatMap(([code, sentence]) =>
      forms(sentence).flatMap((form) => form.split(/\{\w+\}/).map((part) => [code, part.trim()] as const)),
    );
    const unsaid = parts.filter(
      ([code, part]) => /[a-z]{3}/.test(part) && !composed.has(code) && !said.includes(part),
    );
    expect(unsaid).toEqual([]);
  });
});

describe('in German', () => {
  beforeEach(() => setCatalogue(catalogues.de.tag, catalogues.de.texts));
  afterEach(() => setCatalogue(catalogues.en.tag, catalogues.en.texts));

  /** What only a terminal shows, or what is no sentence for a person. */
  const elsewhere = [
    /^There is no enrolled binding of that name\./,
    /^The receipt of a binding names an address/,
    /^The local Core could not open a port/,
    /^The Turns of the local Core could not be read/,
    /^The list of started programs could not be read/,
    // The window has its own words for these, by their codes.
    /^The machine woke/,
    /^The network changed/,
    /^Not connecting again/,
    // Put together from parts; the numbers have a test below.
    /^7 7 not been proven/,
    /^7 of the last run/,
    /^The folder 7 7\./,
  ];
  const places = [
    'src/observe/health.ts',
    ...[
      'commands',
      'command-gate',
      'connection-words',
      'credentials',
      'doctor',
      'doctor-clock',
      'doctor-network',
    ],
    ...['enrolment-words', 'enrolments', 'network-settings', 'local-core', 'orphans', 'updates', 'daemon'],
    'daemon-view',
  ].map((name) => (name.includes('/') ? name : `src/app/${name}.ts`));

  test('what health, checks, refusals and enrolment say is all said in German', () => {
    const read = [
      ...sources('src/enrol'),
      ...places.flatMap((name) => sources('src').filter(([path]) => path === name)),
    ];
    expect(read.length).toBeGreaterThan(20);
    const english = read
      .flatMap(([, text]) => sentencesOf(text))
      .filter((text) => !elsewhere.some((other) => other.test(text)) && said(text) === text);
    expect(english).toEqual([]);
  });

  test('every reason of a connection and every remedy of health', () => {
    for (const code of connectionReasonCodes) {
      if (
        code === 'stopped_by_person' ||
        code === 'woke' ||
        code === 'network_changed' ||
        code === 'cleanup_unconfirmed'
      )
        continue;
      const failure: FailureCode = code;
      for (const detail of [null, '503']) {
        const text = failureSentence(transient(failure, detail), 'core.example.com');
        expect(said(text), text).not.toBe(text);
      }
    }
    for (const { next } of Object.values(healthItems)) expect(said(next), next).not.toBe(next);
  });

  test('several sentences in a row, and a sentence within one', () => {
    expect(
      said('The system keychain is locked. The password was not kept. Unlock or start it and try again.'),
    ).toBe(
      'Der Schlüsselbund des Systems ist gesperrt. Das Passwort wurde nicht gespeichert. Entsperren oder starten Sie den Schlüsselbund und versuchen Sie es erneut.',
    );
    expect(said('Left by the last run of this app: processes 12, 13 did not end.')).toBe(
      'Zurückgelassen vom letzten Lauf dieser App: die Prozesse 12, 13 sind nicht beendet.',
    );
    expect(
      said(
        'Codex: Codex was not found. Install it, or name its program in the configuration. Claude Code: not available',
      ),
    ).toBe(
      'Codex: Codex wurde nicht gefunden. Installieren Sie das Programm, oder nennen Sie seinen Ort in der Konfiguration. Claude Code: nicht verfügbar',
    );
  });

  test('numbers are written the German way and choose their form', () => {
    expect(said('12.5 GB are free.')).toBe('12,5 GB sind frei.');
    expect(said('2 process groups of the last run, which ended without warning, ended now.')).toBe(
      '2 Prozessgruppen des letzten Laufs, der ohne Warnung endete, wurden jetzt beendet.',
    );
    expect(said('The folder /home/u/x can only be read.')).toBe('Der Ordner /home/u/x ist nur lesbar.');
    expect(said('1 thing has not been proven gone.')).toBe('Von 1 Sache ist das Ende nicht belegt.');
  });

  test('what is not of the list stays as it came', () => {
    expect(said('The model said: I am done. So there.')).toBe('The model said: I am done. So there.');
    expect(said('')).toBe('');
  });
});

test('English is shown as the Runtime says it', () => {
  expect(said('12.5 GB are free.')).toBe('12.5 GB are free.');
});
