import tseslint from 'typescript-eslint';

/** Functions newer than the oldest runtime that the shipped code must load on (Node 16.17, Chromium 108). */
const tooNew = [
  ['structuredClone', 'global'],
  ['fetch', 'global'],
].map(([name]) => ({ name, message: 'Not there on the oldest supported runtime.' }));

/** Time and the environment come through src/platform, so that tests can drive them. */
const ambient = ['setTimeout', 'setInterval', 'fetch', 'structuredClone'].map((name) => ({
  name,
  message: 'Comes through src/platform.',
}));

export default tseslint.config(
  { ignores: ['dist/**', 'release/**', 'node_modules/**', 'test-results/**', 'test/harness/programs/**'] },
  {
    files: ['src/**/*.ts', 'electron/**/*.ts', 'renderer/**/*.{ts,tsx}', 'test/**/*.{ts,tsx}'],
    extends: [tseslint.configs.base],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-empty': ['error', { allowEmptyCatch: false }],
      'no-debugger': 'error',
      eqeqeq: 'error',
      'max-lines': ['error', { max: 500, skipBlankLines: true, skipComments: true }],
      // "import * as z": what is not used of zod stays out of the bundle then, which every start would have to compile.
      'no-restricted-syntax': [
        'error',
        {
          selector: "ImportDeclaration[source.value='zod'] > ImportSpecifier[imported.name='z']",
          message: 'Write import * as z.',
        },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/platform/**', 'src/cli/**'],
    rules: {
      'no-restricted-globals': ['error', ...ambient],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Comes through src/platform/clock.' },
        { object: 'process', property: 'env', message: 'Comes through src/platform/environment.' },
        {
          object: 'Promise',
          property: 'withResolvers',
          message: 'Not there on the oldest supported runtime.',
        },
        { object: 'AbortSignal', property: 'any', message: 'Not there on the oldest supported runtime.' },
      ],
    },
  },
  {
    files: ['electron/**/*.ts', 'renderer/**/*.{ts,tsx}'],
    rules: { 'no-restricted-globals': ['error', ...tooNew] },
  },
);
