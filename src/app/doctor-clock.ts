import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { CommandAnswer } from '../contract/commands.ts';
import { within, type Clock } from '../platform/clock.ts';
import type { Network } from '../platform/network.ts';

type Check = CommandAnswer<'doctor.run'>['checks'][number];

export interface ClockSubject {
  readonly clock: Clock;
  /** The way to a Core; null where none is bound. */
  readonly network: Network | null;
}

const answerWait = 5_000;
const minute = 60_000;

/** The clock of this machine against the one of a Core, which no credential is needed to read. Null without a Core. */
export async function clockCheck(
  { clock, network }: ClockSubject,
  cores: readonly string[],
): Promise<Check | null> {
  const [core] = cores;
  if (core === undefined || network === null) return null;
  const { host } = new URL(core);
  const limit = new AbortController();
  const asked = clock.monotonic();
  const answer = await within(
    clock,
    answerWait,
    timeOf(new URL(core), network, limit.signal).catch(() => null),
  );
  limit.abort();
  const theirs = answer.kind === 'value' ? answer.value : null;
  if (theirs === null)
    return { name: 'Clock', ok: true, text: `What time ${host} has could not be learnt.`, next: null };
  // It is told in whole seconds, at some moment of the way there and back.
  const ahead = clock.now() - theirs - (clock.monotonic() - asked) / 2;
  const minutes = Math.round(Math.abs(ahead) / minute);
  if (minutes === 0)
    return { name: 'Clock', ok: true, text: `It agrees with ${host}, to a minute.`, next: null };
  return {
    name: 'Clock',
    ok: true,
    level: 'warn',
    text: ahead > 0 ? aheadOf(host, minutes) : behind(host, minutes),
    next: 'Deadlines may look wrong. Turn on automatic time in the system settings, then check again.',
  };
}

const aheadOf = (host: string, minutes: number): string =>
  minutes === 1 ? `It is ${minutes} minute ahead of ${host}.` : `It is ${minutes} minutes ahead of ${host}.`;
const behind = (host: string, minutes: number): string =>
  minutes === 1 ? `It is ${minutes} minute behind ${host}.` : `It is ${minutes} minutes behind ${host}.`;

/** The `Date` of whatever answer comes; none where the peer gives none. It is no machine call, and carries nothing. */
async function timeOf(url: URL, network: Network, signal: AbortSignal): Promise<number | null> {
  const { agent, tls } = await network.routeFor(url, signal);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(url, { method: 'HEAD', agent, ...tls, signal });
    request.on('error', reject);
    request.on('response', (response) => {
      response.resume();
      const time = Date.parse(response.headers.date ?? '');
      resolve(Number.isNaN(time) ? null : time);
    });
    request.end();
  });
}
