#!/usr/bin/env node
import { endProcess } from './end-process.ts';
import { main } from './main.ts';

// A terminal that went away, or a reader that stopped reading, ends nothing here.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

void main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
    // A finished command leaves nothing that keeps the process; a stuck handle must not keep the terminal either.
    setTimeout(() => endProcess(code), 500).unref();
  },
  () => process.exit(1),
);
