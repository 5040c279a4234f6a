import { defineConfig } from 'vitest/config';

const project = (name: string, extra: Record<string, unknown> = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.{ts,tsx}`], environment: 'node', ...extra },
});

export default defineConfig({
  test: {
    projects: [
      project('unit'),
      project('contract', { testTimeout: 30_000, globalSetup: ['test/support/built.ts'] }),
      project('faults', { testTimeout: 120_000 }),
      project('harness', { testTimeout: 120_000, fileParallelism: false }),
    ],
  },
});
