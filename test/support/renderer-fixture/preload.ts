// First: the page's policy holds for this script too.
import '../../../renderer/zod-without-eval.ts';
import { now } from './samples.ts';
import { scenarios } from './scenarios.ts';
import { standIn } from './stand-in-bridge.ts';

// Runs in the page's own world: the window then stands at one moment and talks to a stand-in for the daemon.
const asked = new URLSearchParams(window.location.search);
const scenario = scenarios[asked.get('scenario') ?? 'home'];
if (scenario === undefined) throw new Error('no such scenario');

const theme = asked.get('theme') === 'dark' ? 'dark' : 'light';
const language = asked.get('language') === 'de' ? 'de' : 'en';
const start = performance.now();
Date.now = () => now + (performance.now() - start);
window.localStorage.setItem('agent-runtime.theme', theme);
window.localStorage.setItem('agent-runtime.language', language);

const fixture = standIn(scenario, {
  theme,
  language,
  notifications: true,
  start_minimised: false,
  start_at_login: true,
  keep_awake: false,
  policy: 'ask',
  answered_by: 'both',
});
if (window.location.hash === '')
  window.history.replaceState(null, '', window.location.search + scenario.hash);
Object.assign(window, { agentRuntime: fixture.bridge, fixture, scenario });
