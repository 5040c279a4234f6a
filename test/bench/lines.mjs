// A Harness that prints: COUNT lines with 64 bytes of text each; with RATE, that many a second and each with its time.
const [count, rate] = process.argv.slice(2).map(Number);
const text = 'x'.repeat(64);
if (rate) {
  const begun = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.min(count, Math.floor(((performance.now() - begun) / 1000) * rate));
    for (; sent < due; sent++)
      process.stdout.write(`${JSON.stringify({ text: `${process.hrtime.bigint()} ${text}` })}\n`);
    if (sent === count) clearInterval(timer);
  }, 1);
} else {
  let n = 0;
  const pump = () => {
    while (n < count) {
      n++;
      if (!process.stdout.write(`{"text":"${text}"}\n`)) return process.stdout.once('drain', pump);
    }
  };
  pump();
}
