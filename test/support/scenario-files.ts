import { fileURLToPath } from 'node:url';
import { loadScenarios } from '../../src/conformance/scenario-folder.ts';

/** Every scenario of `test/scenarios`, in the order of their names. */
export const allScenarios = await loadScenarios(fileURLToPath(new URL('../scenarios', import.meta.url)));
