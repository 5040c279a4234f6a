import type { Page } from '@playwright/test';

export interface FixtureWindow {
  readonly page: Page;
  readonly errors: string[];
  /** Content size in device pixels, and the zoom of the page. */
  size(to: { readonly width: number; readonly height: number; readonly zoom: number }): Promise<void>;
  /** Loads the window in a scenario of `scenarios.ts`; `query` as the fixture's preload reads it. */
  show(scenario: string, query?: Readonly<Record<string, string>>): Promise<void>;
  drawn(): Promise<void>;
  picture(): Promise<Buffer>;
  /** Of one point as it is drawn, 0 to 255. */
  brightness(at: { readonly x: number; readonly y: number }): Promise<number>;
  close(): Promise<void>;
}
export function launchFixture(): Promise<FixtureWindow>;
