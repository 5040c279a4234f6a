import type { CommandAnswer } from '../../../src/contract/commands.ts';
import type { JournalEntry } from '../../../src/contract/journal.ts';
import type { TransferView, View } from '../../../src/contract/view.ts';
import {
  ago,
  ahead,
  binding,
  connection,
  evidence,
  interaction,
  localBinding,
  prompts,
  turn,
  turns,
  view,
} from './samples.ts';
import { harnesses } from './sample-agents.ts';
import { enrolScenarios } from './enrol-scenarios.ts';
import { longJournal, planJournal } from './sample-journals.ts';

/** One state of the whole window: what the daemon would publish, and what it would answer. */
export interface Scenario {
  readonly view: View;
  /** Where the window is opened. */
  readonly hash: string;
  readonly journals?: Readonly<Record<string, readonly JournalEntry[]>>;
  readonly records?: Readonly<Record<string, CommandAnswer<'turn.show'>>>;
  readonly checks?: CommandAnswer<'doctor.run'>['checks'];
  readonly log?: readonly string[];
  /** Commands that the daemon refuses. */
  readonly refuse?: Readonly<Record<string, { readonly code: string; readonly message: string }>>;
  /** The bridge is gone: every call fails after the first view. */
  readonly closed?: boolean;
  /** An answer of this window always comes after the same one of another place. */
  readonly loses?: boolean;
  /** Published right after the first view: what left. */
  readonly then?: View;
}

const journals = { 'run-plan': planJournal };
const local = localBinding();

const checks: CommandAnswer<'doctor.run'>['checks'] = [
  {
    name: 'notes-agent',
    ok: false,
    text: 'It is not signed in.',
    next: 'Run "notes-agent login" in a terminal, then check again.',
  },
  {
    name: 'Clock',
    ok: true,
    level: 'warn',
    text: 'It is 11 minutes ahead of core.example.com.',
    next: 'Deadlines may look wrong. Turn on automatic time in the system settings, then check again.',
  },
  {
    name: 'Proxy and certificates',
    ok: true,
    text: 'No proxy in use. 1 extra authority from your settings.',
    next: null,
  },
  {
    name: 'System keychain',
    ok: true,
    text: 'Wrote, read and deleted a throw-away entry in 12 ms.',
    next: null,
  },
  { name: 'Folders', ok: true, text: '4 of 4 writable, none inside another.', next: null },
  {
    name: 'Tray and notifications',
    ok: true,
    text: 'A tray host answered. The last notification was shown.',
    next: null,
  },
  { name: 'Disk', ok: true, text: '41 GB free where this app keeps its state.', next: null },
];

const health: View['health'] = [
  {
    code: 'disk_full',
    severity: 'error',
    since: ago(200),
    text: 'The disk is full.',
    next: 'Running Turns go on; new ones are refused until there is room.',
  },
  {
    code: 'no_tray',
    severity: 'warning',
    since: ago(900),
    text: 'This desktop shows no tray icon, so closing the window only minimises it.',
    next: 'Starting the app again brings the window to the front. On GNOME, the AppIndicator extension shows tray icons.',
  },
];

const states: View['bindings'] = [
  binding('getting-ready', { connection: connection({ state: 'bootstrapping', since: ago(2), attempt: 1 }) }),
  binding('dialing', { connection: connection({ state: 'dialing', since: ago(1), attempt: 1 }) }),
  binding('connected'),
  binding('trying', {
    connection: connection({ state: 'dialing', since: ago(1), attempt: 5, lost_at: ago(320) }),
  }),
  binding('no-network', {
    connection: connection({
      state: 'waiting',
      since: ago(90),
      attempt: 3,
      next_attempt_at: ahead(7),
      reason_code: 'network',
      lost_at: ago(90),
    }),
  }),
  binding('wrong-address', {
    connection: connection({
      state: 'waiting',
      since: ago(90),
      attempt: 3,
      next_attempt_at: ahead(27),
      reason_code: 'not_found',
      lost_at: ago(390),
    }),
  }),
  binding('cleanup', {
    connection: connection({
      state: 'settling',
      since: ago(40),
      attempt: 1,
      reason_code: 'cleanup_unconfirmed',
      lost_at: ago(40),
    }),
  }),
  binding('after-sleep', { connection: connection({ since: ago(3), reason_code: 'woke' }) }),
  binding('taken-over', {
    connection: connection({
      state: 'waiting',
      since: ago(50),
      attempt: 5,
      next_attempt_at: ahead(240),
      reason_code: 'flapping',
      lost_at: ago(50),
    }),
  }),
  binding('version', {
    connection: connection({
      state: 'parked',
      reason_code: 'incompatible_version',
      reason: 'Core speaks 0.9.2, this app 0.9.1. Update the app, or Core must be updated.',
    }),
  }),
  binding('credential', { connection: connection({ state: 'parked', reason_code: 'credential_rejected' }) }),
  binding('retired', { connection: connection({ state: 'parked', reason_code: 'binding_retired' }) }),
  binding('keychain', {
    connection: connection({
      state: 'waiting',
      reason_code: 'credential_store_unavailable',
      reason: 'The credential store did not answer. The credential was neither read nor changed.',
    }),
  }),
  binding('suspended', { connection: connection({ state: 'suspended', reason_code: 'suspended_by_core' }) }),
  binding('stopped', {
    connection: connection({ state: 'stopped', since: ago(1_000), reason_code: 'stopped_by_person' }),
  }),
];

const turnStates: View['turns'] = [
  turn({
    run_id: 's1',
    title: 'Preparing',
    state: 'starting',
    phase: null,
    evidence: [],
    last_output_at: null,
    started_at: ago(1),
  }),
  turn({
    run_id: 's2',
    title: 'Starting',
    state: 'starting',
    phase: null,
    evidence: [evidence('prepared', 3)],
    last_output_at: null,
    started_at: ago(2),
  }),
  turn({ run_id: 's3', title: 'Working' }),
  turn({ run_id: 's4', title: 'Quiet', started_at: ago(552), last_output_at: ago(360) }),
  turn({
    run_id: 's5',
    title: 'Stopping',
    state: 'cancelling',
    started_at: ago(409),
    evidence: [...turns.plan.evidence, evidence('cancel_requested', 8, 'person')],
  }),
  turn({
    run_id: 's6',
    title: 'Stop not proven',
    state: 'cancelling',
    evidence: [...turns.plan.evidence, evidence('cancel_requested', 40, 'person')],
  }),
  turn({
    run_id: 's7',
    title: 'Settling',
    state: 'settling',
    phase: null,
    evidence: [...turns.plan.evidence, evidence('done_sent', 4)],
  }),
  turn({
    run_id: 's8',
    title: 'Unknown',
    state: 'settling',
    phase: null,
    evidence: [...turns.plan.evidence, evidence('unobserved', 4)],
  }),
];

const hundred: View['interactions'] = Array.from({ length: 100 }, (_, i) => {
  const subject =
    i % 3 === 1
      ? prompts.diff.subject
      : ({
          kind: 'command',
          command: `npm test -w package-${i}`,
          cwd: '/home/user/projects/billing-service',
        } as const);
  return interaction({ id: `many-${i}`, since: ago(600 - i), subject });
});

const firstRun = view({ bindings: [local], turns: [], interactions: [], cleanup: [], history: [] });
const quiet = view({
  bindings: [binding('billing-service'), local],
  turns: [],
  interactions: [],
  cleanup: [],
});

const transfer = (over: Partial<TransferView>): TransferView => ({
  ...{ id: 't', binding: 'billing-service', kind: 'prepare', step: null, since: ago(60) },
  ...{ state: 'receiving', bytes: 0, total: null },
  ...over,
});

/** One plain command, of an agent that takes another one. */
const ruledPrompt = interaction({
  id: 'p-ruled',
  subject: { kind: 'command', command: 'npm run migrate -- --env test', cwd: null },
  since: ago(300),
  reason: 'The ledger tests need the new columns.',
  rule: { tool: 'Bash', match: 'npm run migrate -- --env test' },
  editable: { command: 'npm run migrate -- --env test' },
});

export const scenarios: Readonly<Record<string, Scenario>> = {
  home: { view: view(), hash: '#/', journals },
  'home-quiet': { view: quiet, hash: '#/' },
  'home-states': {
    view: view({ bindings: states, turns: turnStates, interactions: [], cleanup: [] }),
    hash: '#/',
  },
  'home-cards': {
    view: view({
      interactions: [
        prompts.command,
        prompts.outside,
        prompts.coreOnly,
        prompts.tool,
        prompts.network,
        prompts.lookalike,
        prompts.unshowable,
      ],
    }),
    hash: '#/',
  },
  'home-hundred': { view: view({ interactions: hundred }), hash: '#/' },
  'home-withdrawn': {
    view: view(),
    then: view({
      revision: 2,
      interactions: [prompts.chained, prompts.question],
      history: [
        ...view().history,
        {
          kind: 'permission',
          id: 'p-command',
          run_id: 'run-ledger',
          binding: 'billing-service',
          harness: 'claude_sdk',
          title: 'Run a command',
          at: ago(1),
          outcome: 'withdrawn',
          decided_by: 'harness',
          detail: null,
        },
        {
          kind: 'permission',
          id: 'p-diff',
          run_id: 'run-columns',
          binding: 'billing-service',
          harness: 'codex',
          title: 'Change 2 files',
          at: ago(1),
          outcome: 'allowed',
          decided_by: 'core',
          detail: null,
        },
      ],
    }),
    hash: '#/',
  },
  'home-paused': {
    view: view({ interactions: [], runtime: { ...view().runtime, state: 'paused' } }),
    hash: '#/',
  },
  'home-banner': { view: view({ health }), hash: '#/' },
  'home-closed': { view: view(), hash: '#/', closed: true },
  'first-run': { view: firstRun, hash: '#/' },
  'first-run-demo': {
    view: {
      ...firstRun,
      bindings: [
        localBinding({
          harnesses: [
            { ...harnesses.claude, available: false, reason: 'Not installed. Install it with npm.' },
            harnesses.demo,
          ],
        }),
      ],
    },
    hash: '#/',
  },
  'first-run-none': {
    view: { ...firstRun, bindings: [localBinding({ harnesses: [harnesses.notes, harnesses.review] })] },
    hash: '#/',
  },
  compose: { view: quiet, hash: '#/compose' },
  'prompt-command': { view: view(), hash: '#/prompt/p-chained' },
  'prompt-diff': { view: view(), hash: '#/prompt/p-diff' },
  'prompt-tool': { view: view({ interactions: [prompts.tool, prompts.command] }), hash: '#/prompt/p-tool' },
  'prompt-network': {
    view: view({ interactions: [prompts.lookalike, prompts.network] }),
    hash: '#/prompt/p-lookalike',
  },
  'prompt-unshowable': {
    view: view({ interactions: [prompts.unshowable, prompts.command] }),
    hash: '#/prompt/p-unshowable',
  },
  'prompt-core': {
    view: view({ interactions: [prompts.coreOnly, prompts.command] }),
    hash: '#/prompt/p-core',
  },
  'prompt-withdrawn': {
    view: view(),
    then: view({
      revision: 2,
      interactions: [prompts.command, prompts.diff, prompts.question],
      history: [
        ...view().history,
        {
          kind: 'permission',
          id: 'p-chained',
          run_id: 'run-ledger',
          binding: 'billing-service',
          harness: 'claude_sdk',
          title: 'Run a command',
          at: ago(1),
          outcome: 'withdrawn',
          decided_by: 'harness',
          detail: null,
        },
      ],
    }),
    hash: '#/prompt/p-chained',
  },
  question: { view: view(), hash: '#/prompt/p-question' },
  turn: { view: view(), hash: '#/turns/run-plan', journals },
  'turn-ended': {
    view: view({ turns: [], interactions: [] }),
    hash: '#/turns/h1',
    journals: { h1: longJournal(5_000) },
    records: {
      h1: {
        run_id: 'h1',
        session_id: 'session-1',
        harness: 'claude_sdk',
        state: 'ended',
        started_at: ago(9_000),
        outcome: 'completed',
        prompt: 'Go through every package and list what is not tested.',
        text: 'Seven packages have no test at all.',
        detail: null,
        evidence: [
          evidence('prepared', 9_002),
          evidence('started', 9_000, 'harness'),
          evidence('input_accepted', 498, 'harness'),
          evidence('decision_applied', 560, 'harness'),
          evidence('done_sent', 360),
          evidence('settled', 359),
        ],
        usage: {
          ...(turns.plan.usage ?? {
            cached_input_tokens: null,
            reasoning_output_tokens: null,
            total_tokens: null,
            model: null,
          }),
          input_tokens: 204_118,
          output_tokens: 9_440,
          cost_usd: 1.284,
        },
      },
    },
  },
  turns: { view: view(), hash: '#/turns' },
  history: { view: view(), hash: '#/history' },
  doctor: { view: view({ health }), hash: '#/doctor', checks },
  ...enrolScenarios,
  settings: { view: view(), hash: '#/settings/bindings' },
  'prompt-rule': {
    view: view({ interactions: [ruledPrompt, ...view().interactions] }),
    hash: '#/prompt/p-ruled',
  },
  'home-transfers': {
    view: view({
      transfers: [
        transfer({ id: 't1', step: 'npm', state: 'applying', since: ago(73) }),
        transfer({ id: 't2', kind: 'write', bytes: 18_400_000, total: 52_428_800, since: ago(4) }),
        transfer({ id: 't3', kind: 'read', state: 'sending', since: ago(0) }),
      ],
    }),
    hash: '#/',
  },
  'doctor-log': {
    view: view(),
    hash: '#/doctor',
    log: [
      '2026-11-27T14:35:58.004Z info link.serving attempt=1 binding="billing-service"',
      '2026-11-27T14:36:01.120Z info executor.prepared executor="5c0a" ms=412 ok=true',
      '2026-11-27T14:36:02.871Z warn link.lost binding="docs-site" code="timeout"',
      '2026-11-27T14:36:09.332Z error acp.read_failed error="SyntaxError"',
    ],
  },
  'settings-rules': { view: view(), hash: '#/settings/rules' },
  'settings-rules-none': { view: view({ rules: [] }), hash: '#/settings/rules' },
  'settings-agents': { view: view(), hash: '#/settings/agents' },
  'settings-notifications': { view: view(), hash: '#/settings/notifications' },
  'settings-general': { view: view(), hash: '#/settings/general' },
};
