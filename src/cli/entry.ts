import { main } from './main.ts';

void main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
    // A finished command leaves nothing that keeps the process; a stuck handle must not keep the terminal either.
    setTimeout(() => process.exit(code), 500).unref();
  },
  () => process.exit(1),
);
