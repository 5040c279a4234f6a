import type {
  BindingView,
  CleanupView,
  ConnectionView,
  Evidence,
  InteractionView,
  Rule,
  TurnView,
  View,
} from '../../../src/contract/view.ts';
import type { HistoryEntry } from '../../../src/contract/history.ts';
import { harnesses } from './sample-agents.ts';

/** Realistic parts of a view, all told relative to one moment so that a picture shows the same times each run. */
export const now = Date.parse('2026-11-27T14:36:20.000Z');
export const ago = (seconds: number): string => new Date(now - seconds * 1_000).toISOString();
export const ahead = (seconds: number): string => new Date(now + seconds * 1_000).toISOString();

export const connection = (over: Partial<ConnectionView> = {}): ConnectionView => ({
  state: 'serving',
  since: ago(19_460),
  attempt: 0,
  next_attempt_at: null,
  last_received_at: ago(4),
  reason: null,
  reason_code: null,
  host: 'core.example.com',
  lost_at: null,
  ...over,
});

export const binding = (name: string, over: Partial<BindingView> = {}): BindingView => ({
  name,
  local: false,
  environment_id: '3f0c8a52-6a38-4d5e-9d0d-0d9f4b7f1c11',
  session_id: null,
  workspace: `/home/user/projects/${name}`,
  connection: connection(),
  harnesses: [harnesses.claude, harnesses.codex],
  enrolled: { bound_at: ago(400_000), core_version: '2026.11', credential_store: 'keychain' },
  ...over,
});

export const localBinding = (over: Partial<BindingView> = {}): BindingView =>
  binding('scratch', {
    local: true,
    enrolled: null,
    connection: connection({ host: null }),
    harnesses: [harnesses.claude, harnesses.codex, harnesses.notes, harnesses.demo],
    ...over,
  });

export const lost = connection({
  state: 'waiting',
  since: ago(300),
  attempt: 4,
  next_attempt_at: ahead(18),
  last_received_at: ago(310),
  reason: 'Core did not answer within 10 s.',
  reason_code: 'timeout',
  lost_at: ago(300),
});

export const parked = connection({
  state: 'parked',
  since: ago(7_200),
  host: 'core.example.net',
  reason: 'Core speaks 0.9.2, this app 0.9.1. Update the app, or Core must be updated.',
  reason_code: 'incompatible_version',
  lost_at: ago(7_200),
});

export const evidence = (
  fact: Evidence['fact'],
  seconds: number,
  by: Evidence['by'] = 'runtime',
  detail: string | null = null,
): Evidence => ({
  at: ago(seconds),
  fact,
  by,
  detail,
});

export const turn = (over: Partial<TurnView> & Pick<TurnView, 'run_id' | 'title'>): TurnView => ({
  session_id: 'session-1',
  binding: 'billing-service',
  harness: 'claude_sdk',
  state: 'running',
  phase: 'output',
  started_at: ago(161),
  last_output_at: ago(2),
  usage: null,
  evidence: [evidence('prepared', 163), evidence('started', 161, 'harness')],
  local: false,
  can_steer: false,
  entries: 0,
  ...over,
});

export const rule = (over: Partial<Rule> & Pick<Rule, 'id' | 'match'>): Rule => ({
  ...{ binding: 'billing-service', folder: '/home/user/projects/billing-service', scope: 'folder' },
  ...{ harness: 'claude_sdk', tool: 'Bash' },
  ...{ created_at: ago(9 * 3_600), expires_at: ago(-6 * 86_400), used: 0, last_used_at: null },
  ...over,
});

const rules: Rule[] = [
  rule({ id: 'rule-test', match: 'npm test', used: 31, last_used_at: ago(1_800) }),
  rule({
    id: 'rule-lint',
    match: 'npm run lint',
    used: 1,
    last_used_at: ago(80_000),
    scope: 'session',
    expires_at: null,
  }),
  rule({
    id: 'rule-docs',
    match: '{"query":"settlement windows"}',
    ...{ tool: 'mcp__docs__search', expires_at: null },
    ...{ binding: 'docs-site', folder: '/home/user/projects/docs-site' },
  }),
];

export const interaction = (
  over: Partial<InteractionView> & Pick<InteractionView, 'id' | 'subject'>,
): InteractionView => ({
  kind: 'permission',
  binding: 'billing-service',
  run_id: 'run-ledger',
  harness: 'claude_sdk',
  title: 'Run a command',
  tool: 'Bash',
  detail: null,
  reason: null,
  questions: [],
  since: ago(60),
  expires_at: null,
  state: 'pending',
  answerable: true,
  rule: null,
  editable: null,
  ...over,
});

const columnsDiff = `@@ -12,4 +12,5 @@
 export const invoiceColumns: readonly Column[] = [
-  { id: 'inv_no', title: 'Inv. no', width: 12 },
-  { id: 'amt', title: 'Amount', width: 14 },
+  { id: 'inv_no', title: 'Invoice number', width: 12 },
+  { id: 'amt', title: 'Amount (net)', width: 14 },
+  { id: 'amt_gross', title: 'Amount (gross)', width: 14 },
 ];
@@ -54,2 +55,2 @@
-  return rows.map(toCells);
+  return rows.map((row) => toCells(row, invoiceColumns));
 }
`;
const testDiff = `@@ -8,3 +8,8 @@
 it('writes one column for each entry', () => {
-  expect(header(rows)).toEqual(['Inv. no', 'Amount']);
+  expect(header(rows)).toEqual(titles(invoiceColumns));
 });
+
+it('keeps net and gross apart', () => {
+  const [net, gross] = amounts(rows[0]);
+  expect(gross).toBeGreaterThan(net);
+});
`;

export const prompts = {
  command: interaction({
    id: 'p-command',
    since: ago(252),
    subject: {
      kind: 'command',
      command: 'npm test -- --run packages/ledger',
      cwd: '/home/user/projects/billing-service',
    },
  }),
  chained: interaction({
    id: 'p-chained',
    since: ago(131),
    subject: {
      kind: 'command',
      command: [
        'docker compose -f compose.test.yml up -d postgres &&',
        'npm run migrate -- --env test &&',
        'npm test -- --run packages/ledger --reporter=json > tmp/ledger.json;',
        'curl -fsS http://127.0.0.1:8787/health | tee tmp/\u202Ehealth.json',
      ].join('\n'),
      cwd: '/home/user/projects/billing-service',
    },
    reason:
      'Start the test database, apply the migrations and run the ledger tests before I change the rounding.',
  }),
  diff: interaction({
    id: 'p-diff',
    since: ago(97),
    run_id: 'run-columns',
    harness: 'codex',
    tool: 'apply_patch',
    subject: {
      kind: 'file_change',
      changes: [
        { path: 'src/export/columns.ts', kind: 'update', diff: columnsDiff, inside_workspace: true },
        { path: 'test/export/columns.test.ts', kind: 'update', diff: testDiff, inside_workspace: true },
      ],
    },
  }),
  question: interaction({
    id: 'p-question',
    kind: 'user_choice',
    binding: 'scratch',
    run_id: 'run-plan',
    since: ago(32),
    expires_at: ahead(268),
    subject: { kind: 'question' },
    questions: [
      {
        id: 'db',
        question: 'Which database should the import tests use?',
        is_other: true,
        options: [
          { label: 'Postgres in a container', description: 'As in production. Adds about 20 s to a run.' },
          { label: 'SQLite in memory', description: 'Fast, but two migrations use features that it lacks.' },
        ],
      },
      {
        id: 'cases',
        question: 'Which cases should the plan cover?',
        multi_select: true,
        options: [
          { label: 'Broken rows' },
          { label: 'Duplicate files' },
          { label: 'Very large files' },
          { label: 'Interrupted imports' },
        ],
      },
      { id: 'token', question: 'Token of the test mail server', is_secret: true, options: [] },
    ],
  }),
  tool: interaction({
    id: 'p-tool',
    binding: 'docs-site',
    run_id: 'run-links',
    since: ago(12),
    tool: 'create_issue',
    subject: {
      kind: 'tool',
      name: 'create_issue',
      server: 'tracker',
      input: {
        title: 'Broken links on the install page',
        labels: ['docs', 'bug'],
        assignee: null,
        options: { notify: true, milestone: { name: 'Autumn', due: '2026-12-15' } },
        body: 'Two links lead to pages that were moved:\n\n- /install/linux\n- /install/requirements\n\nBoth should point below /guide now.',
      },
    },
  }),
  network: interaction({
    id: 'p-network',
    harness: 'codex',
    since: ago(4),
    tool: null,
    subject: { kind: 'network', host: 'api.example.org', port: 443, protocol: 'https' },
  }),
  lookalike: interaction({
    id: 'p-lookalike',
    harness: 'codex',
    since: ago(3),
    tool: null,
    subject: { kind: 'network', host: 'xn--pple-43d.com', port: 443, protocol: 'https' },
  }),
  unshowable: interaction({
    id: 'p-unshowable',
    since: ago(8),
    tool: 'Edit',
    subject: {
      kind: 'file_change',
      changes: [{ path: 'src/rounding.ts', kind: 'update', diff: '', inside_workspace: true }],
    },
  }),
  outside: interaction({
    id: 'p-outside',
    since: ago(20),
    subject: { kind: 'command', command: 'ls -la', cwd: '/etc' },
  }),
  coreOnly: interaction({
    id: 'p-core',
    since: ago(15),
    answerable: false,
    subject: { kind: 'command', command: 'git push origin main', cwd: '/home/user/projects/billing-service' },
  }),
};

export const turns = {
  ledger: turn({
    run_id: 'run-ledger',
    title: 'Round ledger totals half-even',
    phase: 'waiting_for_answer',
    started_at: ago(734),
    last_output_at: ago(252),
  }),
  columns: turn({
    run_id: 'run-columns',
    title: 'Rename the invoice export columns',
    harness: 'codex',
    phase: 'waiting_for_answer',
    started_at: ago(409),
    last_output_at: ago(97),
  }),
  plan: turn({
    run_id: 'run-plan',
    title: 'Draft a test plan for the import job',
    binding: 'scratch',
    local: true,
    can_steer: true,
    entries: 15,
    usage: {
      input_tokens: 18_402,
      cached_input_tokens: 12_960,
      output_tokens: 1_177,
      reasoning_output_tokens: null,
      total_tokens: 19_579,
      cost_usd: null,
      model: 'claude-opus-4-5',
    },
  }),
};

export const cleanup: CleanupView = {
  id: 'c-1',
  kind: 'process',
  owner: 'Turn “Split invoice template”',
  since: ago(1_880),
  attempts: 3,
  reason: 'process 48213 did not end',
  state: 'unconfirmed',
  pid: 48_213,
};

const past = (
  over: Partial<HistoryEntry> & Pick<HistoryEntry, 'kind' | 'id' | 'title' | 'outcome' | 'at'>,
): HistoryEntry => ({
  run_id: 'run-old',
  binding: 'billing-service',
  harness: 'claude_sdk',
  decided_by: null,
  detail: null,
  ...over,
});

export const history: readonly HistoryEntry[] = [
  past({
    kind: 'turn',
    id: 'h1',
    run_id: 'h1',
    title: 'Add tests for the date parser',
    outcome: 'completed',
    at: ago(81_000),
    binding: 'scratch',
  }),
  past({
    kind: 'cleanup',
    id: 'h2',
    run_id: null,
    title: 'process group',
    outcome: 'confirmed',
    at: ago(79_300),
    binding: 'scratch',
    detail: 'Confirmed on the second try.',
  }),
  past({
    kind: 'permission',
    id: 'h3',
    title: 'read outside the folder',
    outcome: 'allowed',
    decided_by: 'person',
    at: ago(77_800),
    detail: 'Allowed for this Turn.',
  }),
  past({
    kind: 'turn',
    id: 'h4',
    run_id: 'h4',
    title: 'Check broken links',
    outcome: 'failed',
    at: ago(76_500),
    binding: 'docs-site',
    decided_by: 'harness',
    detail: 'Usage limit reached at the agent’s provider.',
  }),
  past({
    kind: 'turn',
    id: 'h5',
    run_id: 'h5',
    title: 'Try the new parser',
    outcome: 'cancelled',
    decided_by: 'person',
    at: ago(75_000),
    binding: 'scratch',
  }),
  past({
    kind: 'permission',
    id: 'h6',
    title: 'git status --short',
    outcome: 'allowed',
    decided_by: 'core',
    at: ago(74_000),
  }),
  past({
    kind: 'turn',
    id: 'h7',
    run_id: 'h7',
    title: 'Sort the changelog by kind',
    outcome: 'completed',
    at: ago(5_060),
    binding: 'docs-site',
  }),
  past({
    kind: 'user_choice',
    id: 'h8',
    title: 'answer 1 question',
    outcome: 'expired',
    at: ago(3_920),
    binding: 'docs-site',
    detail: 'Nobody answered within 10 min.',
  }),
  past({
    kind: 'permission',
    id: 'h9',
    title: 'run a command',
    outcome: 'withdrawn',
    decided_by: 'harness',
    at: ago(3_380),
    binding: 'scratch',
    detail: 'The agent took the request back.',
  }),
  past({
    kind: 'permission',
    id: 'h10',
    title: 'change 1 file',
    outcome: 'denied',
    decided_by: 'person',
    at: ago(2_960),
    detail: 'The agent was told: keep the old name as an alias.',
  }),
  past({
    kind: 'turn',
    id: 'h11',
    run_id: 'h11',
    title: 'Split invoice template',
    outcome: 'unknown',
    at: ago(1_880),
    detail: 'Outcome unknown: the connection was lost at 14:05. It will not run again by itself.',
  }),
  past({
    kind: 'permission',
    id: 'h12',
    title: 'npm test',
    outcome: 'allowed',
    decided_by: 'policy',
    at: ago(860),
  }),
];

export const view = (over: Partial<View> = {}): View => ({
  revision: 1,
  runtime: { state: 'running', version: '0.1.0', wire_version: '0.9.1', started_at: ago(19_460) },
  bindings: [
    binding('billing-service'),
    binding('docs-site', { connection: lost }),
    binding('mobile-app', { connection: parked, harnesses: [harnesses.claude, harnesses.review] }),
    localBinding(),
  ],
  turns: [turns.ledger, turns.columns, turns.plan],
  interactions: [prompts.command, prompts.chained, prompts.diff, prompts.question],
  cleanup: [cleanup],
  transfers: [],
  history: [...history],
  rules,
  enrolments: [],
  invited: null,
  credential_store: 'keychain',
  health: [],
  drops: {},
  update: { state: 'off', version: null, percent: null, failed: false, checked_at: null },
  ...over,
});
