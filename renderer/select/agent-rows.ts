import type { HarnessView, View } from '../../src/contract/view.ts';

export interface AgentRow {
  readonly agent: HarnessView;
  /** The bindings that offer it. */
  readonly bindings: readonly string[];
}

/** Each agent once, whatever number of bindings offers it; the demo last. */
export function agentRows(view: View): readonly AgentRow[] {
  const rows = new Map<string, { agent: HarnessView; bindings: string[] }>();
  for (const binding of view.bindings) {
    for (const agent of binding.harnesses) {
      const known = rows.get(agent.kind);
      if (known) known.bindings.push(binding.name);
      else rows.set(agent.kind, { agent, bindings: [binding.name] });
    }
  }
  return [...rows.values()].sort((a, b) => Number(a.agent.kind === 'demo') - Number(b.agent.kind === 'demo'));
}
