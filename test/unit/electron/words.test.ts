import { afterEach, describe, expect, test } from 'vitest';
import { speak, words } from '../../../electron/words.ts';

afterEach(() => speak('en', []));

describe('the words outside the window', () => {
  test.each([
    ['en', ['de-DE'], 'Quit'],
    ['de', ['en-US'], 'Beenden'],
    ['system', ['de-AT', 'en-US'], 'Beenden'],
    ['system', ['fr-FR', 'de', 'en'], 'Beenden'],
    ['system', ['en-GB', 'de'], 'Quit'],
    ['system', ['fr-FR'], 'Quit'],
    ['system', [], 'Quit'],
  ] as const)('chosen %s on a system of %j: %s', (choice, system, quit) => {
    speak(choice, system);
    expect(words().tray.quit).toBe(quit);
  });

  test('count in both languages', () => {
    const said = (): readonly string[] => [
      words().prompts(1),
      words().prompts(4),
      words().tray.stopNow(3),
      words().dialog.endNow(1),
    ];
    expect(said()).toEqual([
      '1 prompt needs you',
      '4 prompts need you',
      'Stop now, end 3 Turns…',
      'End 1 Turn now?',
    ]);
    speak('de', []);
    expect(said()).toEqual([
      '1 Anfrage wartet auf Sie',
      '4 Anfragen warten auf Sie',
      'Jetzt stoppen, 3 Turns beenden…',
      '1 Turn jetzt beenden?',
    ]);
  });
});
