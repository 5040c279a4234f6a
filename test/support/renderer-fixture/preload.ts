// First: the page's policy holds for this script too.
import '../../../renderer/zod-without-eval.ts';
import type { WindowBridge } from '../../../src/contract/bridge.ts';
import { defaultSettings } from '../../../src/contract/settings.ts';
import { longScenarios } from './long-scenarios.ts';
import { now } from './samples.ts';
import { scenarios } from './scenarios.ts';
import { standIn } from './stand-in-bridge.ts';

// Runs in the page's own world: the window then stands at one moment and talks to a stand-in for the daemon.
const asked = new URLSearchParams(window.location.search);
const name = asked.get('scenario') ?? 'home';
const scenario = scenarios[name] ?? longScenarios[name]?.();
if (scenario === undefined) throw new Error('no such scenario');

const theme = asked.get('theme') === 'dark' ? 'dark' : 'light';
const language = asked.get('language') === 'de' ? 'de' : 'en';
const start = performance.now();
Date.now = () => now + (performance.now() - start);
window.localStorage.setItem('agent-runtime.theme', theme);
window.localStorage.setItem('agent-runtime.language', language);

const fixture = standIn(scenario, {
  ...defaultSettings,
  theme,
  language,
  start_at_login: true,
  keep_awake: false,
});
if (window.location.hash === '')
  window.history.replaceState(null, '', window.location.search + scenario.hash);

/** Milliseconds of each task that took longer than 50. */
const longTasks: number[] = [];
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) longTasks.push(task.duration);
}).observe({ type: 'longtask' });
// What the real daemon answers or pushes comes as a task of its own.
const bridge: WindowBridge = {
  ...fixture.bridge,
  onView: (listener) => fixture.bridge.onView((next) => setTimeout(() => listener(next), 0)),
  command: async (command, request) => {
    await new Promise((done) => setTimeout(done, 0));
    return fixture.bridge.command(command, request);
  },
};
Object.assign(window, { agentRuntime: bridge, fixture, scenario, longTasks });
