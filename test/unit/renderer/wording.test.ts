import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { en } from '../../../renderer/i18n/en.ts';
import { t, textParts, type Text } from '../../../renderer/i18n/t.ts';

const entries: readonly (readonly [string, Text])[] = Object.entries(en);
const texts = entries.flatMap(([key, text]) =>
  typeof text === 'string' ? [[key, text] as const] : [[key, text.one] as const, [key, text.other] as const],
);

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
    expect(texts.filter(([, text]) => /trusted/i.test(text)).map(([key]) => key)).toEqual([
      'conn.reason.tls',
    ]);
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
      .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('i18n/en'))
      .map((name) => readFileSync(join('renderer', name), 'utf8'))
      .join('\n');
    const families = [...sources.matchAll(/`([a-z_.]*)\$\{[^}]+\}([a-z_.]*)`/g)].map(
      ([, head, tail]) => [head, tail] as const,
    );
    const unused = entries
      .map(([key]) => key)
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
