/** Who may import whom. The arrows are the architecture; this file is their check. */
const allow = {
  protocol: [],
  contract: [],
  platform: [],
  ownership: ['platform'],
  observe: ['platform', 'ownership'],
  store: ['platform', 'ownership', 'observe'],
  enrol: ['protocol', 'platform', 'observe', 'store'],
  connection: ['protocol', 'platform', 'ownership', 'observe'],
  workspace: ['protocol', 'platform', 'ownership', 'observe'],
  harness: ['protocol', 'platform', 'ownership', 'observe'],
  runtime: ['protocol', 'platform', 'ownership', 'observe', 'workspace'],
  core: ['protocol', 'platform'],
  conformance: ['protocol', 'platform', 'core'],
  app: [
    'protocol',
    'contract',
    'platform',
    'ownership',
    'observe',
    'store',
    'enrol',
    'connection',
    'runtime',
    'harness',
    'workspace',
  ],
  cli: ['app', 'contract', 'conformance', 'protocol', 'platform', 'observe', 'store'],
};

const arrows = Object.entries(allow).map(([room, others]) => ({
  name: `${room}-arrows`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: {
    path: '^(src|electron|renderer|test)/',
    pathNot: [
      `^src/${room}/`,
      ...others.map((other) => `^src/${other}/`),
      // The Runtime knows the contract of an adapter and nothing else of the Harnesses.
      ...(room === 'runtime' ? ['^src/harness/adapter\\.ts$'] : []),
    ],
  },
}));

module.exports = {
  forbidden: [
    ...arrows.map((rule) =>
      // The local Core is a peer: one file of the composition starts it.
      rule.name === 'app-arrows'
        ? { ...rule, from: { path: '^src/app/', pathNot: '^src/app/local-core\\.ts$' } }
        : rule,
    ),
    {
      name: 'local-core-arrow',
      severity: 'error',
      from: { path: '^src/app/local-core\\.ts$' },
      to: { path: '^(electron|renderer|test|src/(cli|conformance))/' },
    },
    {
      name: 'electron-arrows',
      severity: 'error',
      from: { path: '^electron/' },
      to: {
        path: '^(src|renderer|test)/',
        pathNot: ['^src/app/', '^src/contract/', '^src/observe/logger\\.ts$'],
      },
    },
    {
      name: 'renderer-arrows',
      severity: 'error',
      from: { path: '^renderer/' },
      to: { path: '^(src|electron|test)/', pathNot: '^src/contract/' },
    },
    {
      name: 'src-is-plain-node',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(node_modules/)?(electron|react|react-dom)(/|$)' },
    },
    {
      name: 'pure-rooms-use-zod-alone',
      severity: 'error',
      from: { path: '^src/(protocol|contract)/' },
      to: { dependencyTypes: ['npm', 'npm-dev', 'core'], pathNot: '^node_modules/zod/' },
    },
    {
      name: 'window-libraries',
      severity: 'error',
      from: { path: '^renderer/' },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'core'],
        pathNot: '^node_modules/(zod|react|react-dom|scheduler|@types)/',
      },
    },
    {
      name: 'keychain-in-one-place',
      severity: 'error',
      from: { path: '^(src|electron)/', pathNot: '^src/store/keychain\\.ts$' },
      to: { path: 'node_modules/(keytar|@napi-rs)/' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-tests-inside',
      severity: 'error',
      from: { path: '^(src|electron|renderer)/' },
      to: { path: '^test/' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'] },
  },
};
