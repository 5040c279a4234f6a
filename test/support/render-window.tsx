import { act, cleanup as unmount, render } from '@testing-library/react';
import { App } from '../../renderer/app.tsx';
import { openDesktopLink } from '../../renderer/bridge.ts';
import { createServices, type Services } from '../../renderer/services.ts';
import type { View } from '../../src/contract/view.ts';
import { FakeClock } from './fake-clock.ts';
import { now } from './renderer-fixture/samples.ts';
import type { Scenario } from './renderer-fixture/scenarios.ts';
import { standIn, type StandIn } from './renderer-fixture/stand-in-bridge.ts';

/** The window in a page without layout, with a stand-in for the daemon and a clock that is advanced by hand. */
export interface TestWindow extends StandIn {
  readonly services: Services;
  readonly clock: FakeClock;
  /** Answers that left the window. */
  answers(): readonly unknown[];
  next(view: View): Promise<void>;
  wait(ms: number): Promise<void>;
  /** The end of every input on screen comes into sight. */
  readToTheEnd(): Promise<void>;
}

type Callback = (entries: readonly { readonly isIntersecting: boolean }[]) => void;
const observers = new Set<Callback>();

class SeenObserver {
  readonly #callback: Callback;
  constructor(callback: Callback) {
    this.#callback = callback;
  }
  observe(): void {
    observers.add(this.#callback);
  }
  unobserve(): void {
    observers.delete(this.#callback);
  }
  disconnect(): void {
    observers.delete(this.#callback);
  }
}

export async function renderWindow(scenario: Scenario): Promise<TestWindow> {
  unmount();
  observers.clear();
  Object.assign(globalThis, { IntersectionObserver: SeenObserver, IS_REACT_ACT_ENVIRONMENT: true });
  window.location.hash = scenario.hash;
  const clock = new FakeClock(now);
  const daemon = standIn(scenario);
  const services = createServices(openDesktopLink(daemon.bridge), clock, window);
  render(<App services={services} />);
  const wait = (ms: number): Promise<void> => act(() => clock.advance(ms));
  await wait(0);
  return {
    ...daemon,
    services,
    clock,
    wait,
    answers: () =>
      daemon.calls.filter((call) => call.name === 'interaction.answer').map((call) => call.request),
    next: async (view) => {
      await act(async () => daemon.publish(view));
      await wait(0);
    },
    readToTheEnd: async () => {
      await act(async () => {
        for (const callback of [...observers]) callback([{ isIntersecting: true }]);
      });
    },
  };
}

const nameOf = (element: Element): string =>
  (element.getAttribute('aria-label') ?? element.textContent ?? '').trim();

/** The one button of that name in `root`. (Queries by role go through every style on the page and are slow here.) */
export function buttonNamed(name: string | RegExp, root: ParentNode = document): HTMLElement {
  const found = [...root.querySelectorAll<HTMLElement>('button')].filter((button) =>
    typeof name === 'string' ? nameOf(button) === name : name.test(nameOf(button)),
  );
  if (found.length !== 1 || found[0] === undefined)
    throw new Error(`${found.length} buttons are named ${String(name)}`);
  return found[0];
}
