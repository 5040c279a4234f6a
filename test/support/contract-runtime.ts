import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RuleBook } from '../../src/runtime/rule-book.ts';
import { BoundRuntime, type BindingTarget } from '../../src/app/binding.ts';
import { contractProfile, scenarioBinding, scenarioWorkspace } from '../../src/conformance/profile.ts';
import type { RuntimeSubject } from '../../src/conformance/player.ts';
import { History } from '../../src/conformance/history.ts';
import type { Scenario } from '../../src/conformance/scenario.ts';
import { contractCredential, contractDevice, ScriptedCore } from '../../src/conformance/scripted-core.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { declareCapabilities, capabilityNames } from '../../src/protocol/capabilities.ts';
import type { RuntimeFact } from '../../src/runtime/facts.ts';
import { ContractControl } from './contract-control.ts';
import { ControlledHarness } from './controlled-harness.ts';
import { realWorkspace } from './real-workspace.ts';
import { FakeClock } from './fake-clock.ts';
import { RecordedHarness } from './recorded-harness.ts';
import { countingRandom } from './router-bed.ts';
import { directNetwork } from './direct-network.ts';

/**
 * The real Runtime of one connection (link, router, socket) on a clock that stands still and a Harness under control,
 * in front of a scripted Core.
 */
export class ContractRuntime {
  readonly core: ScriptedCore;
  readonly harness = new ControlledHarness();
  readonly clock = new FakeClock();
  readonly facts: RuntimeFact[] = [];
  /** What the scripted Core, the Harness and the person saw. */
  readonly history = new History();
  readonly #bound: BoundRuntime;
  readonly #folder: string | null;

  private constructor(core: ScriptedCore, scenario: Scenario) {
    this.core = core;
    const { without, policy, answered_by } = scenario.setup;
    const names = capabilityNames.filter(
      (name) => this.harness.capabilities[name] && !without.includes(name),
    );
    this.harness.capabilities = declareCapabilities(names);
    const bound = scenario.requires.includes('bound');
    this.#folder = bound ? seededFolder() : null;
    const target: BindingTarget = {
      name: 'contract',
      local: false,
      coreUrl: core.coreUrl,
      deviceId: contractDevice,
      expectedUrl: null,
      workspace:
        this.#folder === null
          ? null
          : { ...scenarioBinding, workspace: this.#folder, recordedDirectory: this.#folder },
      secret: () => Promise.resolve({ kind: 'ok', secret: contractCredential }),
    };
    const adapter = new RecordedHarness(this.harness, this.history);
    core.witness = {
      opened: (on) => this.history.add({ by: 'link', does: 'opens', on }),
      said: (on, frame) => this.history.add({ by: 'core', does: 'says', on, frame }),
      heard: (on, frame) => this.history.add({ by: 'core', does: 'hears', on, frame }),
      lost: (on) => this.history.add({ by: 'link', does: 'loses', on }),
    };
    this.#bound = new BoundRuntime(target, {
      clock: this.clock,
      random: countingRandom(),
      logger: silentLogger,
      userAgent: 'contract-test',
      network: directNetwork(),
      version: '0.0.0',
      interactions: { policy: policy ?? 'ask', answeredBy: answered_by ?? 'both', timeoutMs: null },
      rules: new RuleBook({ clock: this.clock, random: countingRandom() }),
      executorIdleMs: 60 * 60_000,
      harnesses: () => [{ adapter, probe: this.harness.offer() }],
      stateDir: (sessionId) => Promise.resolve(`/state/${sessionId}`),
      workspace: ({ workspace: root }) =>
        realWorkspace({ root, stateDir: `${root}-state`, ...scenarioBinding }),
      paused: () => false,
      onFact: (_binding, fact) => this.#fact(fact),
      onChange: () => undefined,
    });
  }

  #fact(fact: RuntimeFact): void {
    this.facts.push(fact);
    if (fact.type !== 'interaction_opened') return;
    const { id: interaction, runId: run, request } = fact;
    this.history.add({ by: 'person', does: 'sees', interaction, run, key: request.native.key });
  }

  static async open(scenario: Scenario): Promise<ContractRuntime> {
    return new ContractRuntime(await ScriptedCore.listen({ clock: systemClock }), scenario);
  }

  get subject(): RuntimeSubject {
    return {
      clock: systemClock,
      core: this.core,
      profile: this.#folder === null ? contractProfile : { kind: 'contract', bound: scenarioBinding },
      control: new ContractControl(this.harness, this.clock, (id, answer) => this.#bound.answer(id, answer)),
      patience: 3_000,
      start: () => {
        this.#bound.link.start();
        return Promise.resolve();
      },
    };
  }

  /** Lets go of everything: what the Harness still holds open ends with the process of the test. */
  async close(): Promise<void> {
    this.#bound.link.dispose();
    await this.core.close();
    if (this.#folder === null) return;
    for (const path of [this.#folder, `${this.#folder}-state`])
      rmSync(path, { recursive: true, force: true });
  }
}

function seededFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'contract-workspace-'));
  for (const name of scenarioWorkspace.folders) mkdirSync(join(folder, name));
  for (const [name, content] of Object.entries(scenarioWorkspace.files))
    writeFileSync(join(folder, name), content);
  return folder;
}
