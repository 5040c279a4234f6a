import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { de } from '../../../renderer/i18n/de.ts';
import { en } from '../../../renderer/i18n/en.ts';
import { catalogues } from '../../../renderer/i18n/catalogues.ts';
import { setCatalogue, t, textParts, type Text } from '../../../renderer/i18n/t.ts';
import { moment, took } from '../../../renderer/select/time-words.ts';

const flat = (catalogue: Readonly<Record<string, Text>>): readonly (readonly [string, string])[] =>
  Object.entries(catalogue).flatMap(([key, text]) =>
    typeof text === 'string'
      ? [[key, text] as const]
      : [[key, text.one] as const, [key, text.other] as const],
  );
const entries: readonly (readonly [string, Text])[] = Object.entries(en);
const texts = flat(en);
const germanTexts = flat(de);

/** Certificates are trusted or not: there the word is the right one. */
const ofCertificates = /^(?:said\.)?(?:conn\.(?:reason\.)?tls|settings\.ca)/;

describe('what is never said', () => {
  const never = [
    /sandbox/i,
    /\bsafe(ly|ty)?\b/i,
    /\bsecure/i,
    /\bprotected\b/i,
    /\bisolated\b/i,
    /successfully/i,
    /\bcancell?ed\b/i,
    /always allow/i,
    /\bkilled\b/i,
    /dangerous/i,
    /\bplease\b/i,
    /\boops\b/i,
    /!/,
  ];
  test('no text holds one of these words', () => {
    expect(texts.filter(([, text]) => never.some((word) => word.test(text)))).toEqual([]);
  });

  test('an agent, a command or a folder is never called trusted', () => {
    expect(texts.filter(([key, text]) => /trusted/i.test(text) && !ofCertificates.test(key))).toEqual([]);
  });

  test('expired and withdrawn are not called denied', () => {
    expect(t('end.expired.text', { span: '10 min' })).toContain('not that you denied');
    expect(t('end.withdrawn.text', { why: '' })).toContain('Nothing was allowed or denied.');
    expect(t('end.expired')).not.toMatch(/denied/i);
  });

  test('an unknown outcome is not called failed', () => {
    for (const [key, text] of texts) if (key.includes('unknown')) expect(text).not.toMatch(/fail/i);
  });
});

describe('what is never said in German', () => {
  const never = [
    /sandbox/i,
    /(?<!Um)\bsicher(?:e[nmrs]?|heit|t)?\b/i,
    /gesichert/i,
    /geschützt/i,
    /isoliert/i,
    /erfolgreich/i,
    /abgebrochen|storniert/i,
    /immer erlauben/i,
    /getötet|abgeschossen/i,
    /gefährlich/i,
    /\bbitte\b/,
    /hoppla|ups\b/i,
    /!/,
    /Sitzung/,
    /[“”"](?=[A-Za-zÄÖÜäöü{])/,
  ];
  test('no text holds one of these words', () => {
    expect(germanTexts.filter(([, text]) => never.some((word) => word.test(text)))).toEqual([]);
  });

  test('an agent, a command or a folder is never called trusted', () => {
    expect(germanTexts.filter(([key, text]) => /vertrau/i.test(text) && !ofCertificates.test(key))).toEqual(
      [],
    );
  });

  test('an unknown outcome is not called failed, expired and withdrawn are not called denied', () => {
    for (const [key, text] of germanTexts)
      if (key.includes('unknown')) expect(text).not.toMatch(/fehlgeschlagen/i);
    expect(de['end.expired']).not.toMatch(/abgelehnt/i);
    expect(de['end.expired.text']).toContain('nicht, dass Sie abgelehnt haben');
    expect(de['end.withdrawn.text']).toContain('Nichts wurde erlaubt oder abgelehnt.');
  });
});

/** Names of the protocol and words that both languages share. */
const sameInBoth: readonly string[] = [
  'app.name',
  'by.core',
  'cleanup.kind.turn',
  'compose.agent',
  'conn.core',
  'enrol.check.agent',
  'enrol.check.core',
  'enrol.check.environment',
  'enrol.key.environment',
  'fact.server',
  'history.by.core',
  'history.turns',
  'live.turn',
  'nav.turns',
  'rail.agent',
  'settings.language.de',
  'settings.language.en',
  'settings.pause',
  'settings.proxy',
  'stream.core',
  'time.minutes',
  'title.plain',
  'turn.unnamed',
  'usage.usd',
];

describe('the second language', () => {
  const places = (text: string): string => [...new Set(text.match(/\{\w+\}/g))].sort().join(' ');
  const forms = (text: Text): readonly string[] =>
    typeof text === 'string' ? [text] : [text.one, text.other];

  test('has the places and the numbers of each text', () => {
    for (const [key, text] of entries) {
      const german: Text = de[key as keyof typeof de];
      expect([key, typeof german]).toEqual([key, typeof text]);
      // Form by form: one that leaves a place out shows less than the other language does.
      expect([key, forms(german).map(places)]).toEqual([key, forms(text).map(places)]);
    }
  });

  test('a length of time stands in German where "3 Tagen" is right', () => {
    const [span, days] = [/\{(?:span|left)\}/, de['time.days'].other];
    expect(days).toBe('{count} Tagen');
    const dative = /\b(?:seit|vor|nach|von|in|gilt noch) \{(?:span|left)\}/i;
    expect(germanTexts.filter(([, text]) => span.test(text) && !dative.test(text))).toEqual([]);
  });

  test('a counted length of time is no time of day: "seit 9:12" would be one', () => {
    expect(germanTexts.filter(([, text]) => /\bseit \{(?:waited|age)\}/i.test(text))).toEqual([]);
    expect(de['rail.running']).not.toMatch(/seit$/);
  });

  test('leaves nothing in the first one but names and words that are the same', () => {
    const same = germanTexts
      .filter(([key, text]) => texts.some(([other, english]) => other === key && english === text))
      .filter(([, text]) => /\p{L}{3,}/u.test(text.replace(/\{\w+\}/g, '')))
      .map(([key]) => key);
    expect([...new Set(same)].sort()).toEqual(sameInBoth);
  });

  test('writes numbers, times and plurals its own way', () => {
    try {
      setCatalogue(catalogues.de.tag, catalogues.de.texts);
      expect(t('tool.last_lines', { shown: 200, count: 4_102 })).toBe('letzte 200 von 4.102 Zeilen');
      expect(t('home.needs_you', { count: 1 })).toBe('1 Anfrage wartet auf Sie');
      expect(t('home.needs_you', { count: 0 })).toBe('0 Anfragen warten auf Sie');
      expect(took(3_840)).toBe('3,8 s');
      const now = new Date(2026, 10, 27, 14, 31).getTime();
      expect(moment(new Date(2026, 10, 25, 9, 5).getTime(), now)).toBe('Mittwoch 09:05');
      expect(moment(new Date(2026, 9, 20, 9, 5).getTime(), now)).toBe('20. Oktober 09:05');
    } finally {
      setCatalogue(catalogues.en.tag, catalogues.en.texts);
    }
  });
});

describe('the catalogue', () => {
  test('every place is filled by its parameter and nothing else', () => {
    expect(t('conn.lost.next', { at: '14:31', next: '0:18' })).toBe('Lost at 14:31. Next try in 0:18');
    expect(t('conn.lost.next', { at: '{next}', next: 'x' })).toBe('Lost at {next}. Next try in x');
  });

  test('one and many', () => {
    expect(t('home.needs_you', { count: 1 })).toBe('1 prompt needs you');
    expect(t('home.needs_you', { count: 4 })).toBe('4 prompts need you');
    expect(t('tool.last_lines', { shown: 200, count: 4_102 })).toBe('last 200 of 4,102 lines');
  });

  test('a sentence with a link is cut at its place', () => {
    expect(textParts('prompt.asks')).toEqual([{ slot: 'agent' }, ' asks, in the Turn ', { slot: 'turn' }]);
  });

  test('every text is used', () => {
    const sources = readdirSync('renderer', { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !/^i18n\/(?:en|de)/.test(name))
      .map((name) => readFileSync(join('renderer', name), 'utf8'))
      .join('\n');
    const families = [...sources.matchAll(/`([a-z_.]*)\$\{[^}]+\}([a-z_.]*)`/g)].map(
      ([, head, tail]) => [head, tail] as const,
    );
    const unused = entries
      .map(([key]) => key)
      // Those of a Runtime are found by what it says; `sentences.test.ts` holds them against it.
      .filter((key) => !key.startsWith('said.'))
      .filter(
        (key) =>
          !sources.includes(`'${key}'`) &&
          !sources.includes(`"${key}"`) &&
          !families.some(
            ([head = '', tail = '']) =>
              (head !== '' || tail !== '') && key.startsWith(head) && key.endsWith(tail),
          ),
      );
    expect(unused).toEqual([]);
  });
});

test('nothing of the window is drawn from markup or styled in place', () => {
  const sources = readdirSync('renderer', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  );
  for (const name of sources) {
    const text = readFileSync(join('renderer', name), 'utf8');
    expect(text, name).not.toMatch(/dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|\sstyle=/);
    expect(text, name).not.toMatch(/from '(?:electron|node:)/);
  }
});
