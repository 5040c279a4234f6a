/** An agent that is looked for by its name when nothing is configured, and what is known of it. */
export interface KnownAgent {
  /** Name of its program, and its kind. */
  readonly program: string;
  readonly name: string;
  readonly args: readonly string[];
  /** Names of the daemon's environment that it needs for its sign-in and settings. */
  readonly inherit: readonly string[];
}

const providers = ['ANTHROPIC_*', 'OPENAI_*', 'GEMINI_*', 'GOOGLE_*', 'OPENROUTER_*', 'AWS_*', 'AZURE_*'];

export const knownAgents: readonly KnownAgent[] = [
  { program: 'opencode', name: 'OpenCode', args: ['acp'], inherit: ['OPENCODE_*', ...providers] },
  { program: 'gemini', name: 'Gemini CLI', args: ['--acp'], inherit: ['GEMINI_*', 'GOOGLE_*', 'CLOUDSDK_*'] },
  { program: 'claude-agent-acp', name: 'Claude Agent (ACP)', args: [], inherit: ['ANTHROPIC_*', 'CLAUDE_*'] },
  { program: 'codex-acp', name: 'Codex (ACP)', args: [], inherit: ['OPENAI_*', 'CODEX_*'] },
];
