import type { HarnessView } from '../../../src/contract/view.ts';

/** Agents in every state that a view can show. */
export const harness = (kind: string, name: string, over: Partial<HarnessView> = {}): HarnessView => ({
  kind,
  name,
  available: true,
  version: null,
  reason: null,
  capabilities: {},
  ...over,
});

export const harnesses = {
  claude: harness('claude_sdk', 'Claude Code', {
    version: '2.4.1',
    reason: 'Found by the search path of your login shell. Signed in.',
  }),
  codex: harness('codex', 'Codex', { version: '0.98.0', reason: 'Found beside Claude Code. Signed in.' }),
  notes: harness('notes-agent', 'notes-agent', {
    available: false,
    reason: 'Found, but it says that no account is signed in. Run "notes-agent login" in a terminal.',
  }),
  review: harness('review-agent', 'review-agent', {
    available: false,
    reason:
      'The program is there, but the node it needs is not on the search path. Give a full command in the configuration.',
  }),
  demo: harness('demo', 'Demo', {
    reason: 'No model. Streams text, asks one permission and one question, writes one file.',
  }),
};
