import { keptLanguage, languageOf, paintLanguage } from './language.ts';
import { keptTheme, paintTheme } from './theme.ts';

// Runs before the first paint, from a file of its own because the page's policy allows no inline script.
paintTheme(window, keptTheme(window));
paintLanguage(window, languageOf(window, keptLanguage(window)));
