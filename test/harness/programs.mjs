// The real programs that tests drive. They are large and not part of the product, so they have a locked manifest of
// their own (programs/) and live in a cache folder named after the hash of that lock: a first run fetches them from
// the npm registry, later runs find them.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const manifest = fileURLToPath(new URL('./programs/', import.meta.url));

/** Folder of the installed programs, whether they are there or not. */
export function programsFolder() {
  const lock = readFileSync(path.join(manifest, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  return path.join(cache, 'agent-runtime-desktop', 'harness-programs', hash);
}

/** Platform packages that fit this machine, the likeliest first. */
function claudePackages() {
  const base = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`;
  const musl = process.platform === 'linux' && !process.report?.getReport?.()?.header?.glibcVersionRuntime;
  return musl ? [`${base}-musl`, base] : [base];
}

async function installedClaude() {
  const file = process.platform === 'win32' ? 'claude.exe' : 'claude';
  for (const name of claudePackages()) {
    const program = path.join(programsFolder(), 'node_modules', ...name.split('/'), file);
    if (
      await fs.access(program).then(
        () => true,
        () => false,
      )
    )
      return program;
  }
  return null;
}

const codexTargets = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
  'win32-x64': 'x86_64-pc-windows-msvc',
  'win32-arm64': 'aarch64-pc-windows-msvc',
};

async function installedCodex() {
  const platform = `${process.platform}-${process.arch}`;
  const file = process.platform === 'win32' ? 'codex.exe' : 'codex';
  const program = path.join(
    ...[programsFolder(), 'node_modules', '@openai', `codex-${platform}`],
    ...['vendor', codexTargets[platform] ?? platform, 'bin', file],
  );
  return fs.access(program).then(
    () => program,
    () => null,
  );
}

async function installedOpenCode() {
  const name = `opencode-${process.platform}-${process.arch}`;
  const program = path.join(programsFolder(), 'node_modules', name, 'bin', 'opencode');
  return fs.access(program).then(
    () => program,
    () => null,
  );
}

async function installedExampleAgent() {
  const source = ['typescript', 'examples', 'agent.ts'];
  const file = path.join(
    programsFolder(),
    'node_modules',
    '@zed-industries',
    'agent-client-protocol',
    ...source,
  );
  return fs.access(file).then(
    () => file,
    () => null,
  );
}

let installing = null;

async function installed(name, look) {
  const there = await look();
  if (there) return there;
  installing ??= install(look);
  await installing;
  const now = await look();
  if (!now) throw new Error(`There is no ${name} for ${process.platform}-${process.arch}.`);
  return now;
}

/**
 * Absolute path of the pinned Claude Code, installed first when it is not there. Rejects with a reason for a person
 * when it cannot be had.
 */
export const claudeProgram = () => installed('Claude Code', installedClaude);

/** The same for the pinned Codex: its native program, not the launcher. */
export const codexProgram = () => installed('Codex', installedCodex);

/** The same for the pinned OpenCode. */
export const openCodeProgram = () => installed('OpenCode', installedOpenCode);

/** Source of the example agent of the Agent Client Protocol's old SDK; it is built by whoever runs it. */
export const exampleAgentSource = () => installed('example agent', installedExampleAgent);

/** Installs beside the final place and moves it there whole, so that a broken-off run leaves nothing half. */
async function install(look) {
  const folder = programsFolder();
  const staging = `${folder}.${process.pid}.tmp`;
  await fs.rm(staging, { recursive: true, force: true });
  await fs.mkdir(staging, { recursive: true });
  try {
    for (const name of ['package.json', 'package-lock.json']) {
      await fs.copyFile(path.join(manifest, name), path.join(staging, name));
    }
    await npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund'], staging);
    await fs.rename(staging, folder).catch(async (error) => {
      if (!(await look())) throw error; // another run was faster
    });
  } finally {
    await fs.rm(staging, { recursive: true, force: true });
  }
}

function npm(args, cwd) {
  // The npm that runs this script, if one does; npm is no program of its own on Windows.
  const script = process.env.npm_execpath;
  const [command, before] = script ? [process.execPath, [script]] : ['npm', []];
  return new Promise((resolve, reject) => {
    execFile(
      command,
      [...before, ...args],
      { cwd, maxBuffer: 16 * 1024 * 1024, shell: !script && process.platform === 'win32' },
      (error, _stdout, stderr) => {
        if (error)
          reject(
            new Error(
              `The Harness programs could not be installed: ${stderr.trim().split('\n').at(-1) ?? error.message}`,
            ),
          );
        else resolve();
      },
    );
  });
}
