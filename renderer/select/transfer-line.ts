import type { TransferView } from '../../src/contract/view.ts';
import { decimal, t } from '../i18n/t.ts';
import { mark, type Mark } from './mark.ts';
import { at, counted } from './time-words.ts';

/** A transfer as a line: what is done, how far it is, for how long. */
export interface TransferLine {
  readonly mark: Mark;
  readonly what: string;
  readonly state: string;
  readonly elapsed: string;
  /** Only a step of a preparation can be stopped; a write that began is settled by evidence. */
  readonly stoppable: boolean;
}

/** Shorter ones come and go before anybody can read them. */
export const shownAfter = 1_000;

export const shownTransfers = (transfers: readonly TransferView[], now: number): readonly TransferView[] =>
  transfers.filter((transfer) => transfer.state === 'unknown' || now - at(transfer.since) >= shownAfter);

const steps = ['file', 'skill', 'plugin', 'configure', 'npm', 'python', 'setup', 'finalize'] as const;

export function transferLine(transfer: TransferView, now: number): TransferLine {
  const step = steps.find((known) => known === transfer.step);
  const bytes = sizes(transfer);
  return {
    mark: transfer.state === 'unknown' ? mark('dash', 'warn') : mark('half', 'run'),
    what: step === undefined ? t(`transfer.${transfer.kind}`) : t(`transfer.step.${step}`),
    state: [t(`transfer.${transfer.state}`), ...(bytes === null ? [] : [bytes])].join(' · '),
    elapsed: counted(now - at(transfer.since)),
    stoppable: transfer.kind === 'prepare' && transfer.state !== 'unknown',
  };
}

function sizes({ bytes, total }: TransferView): string | null {
  if (bytes === 0 && (total ?? 0) === 0) return null;
  if (total === null) return t('transfer.bytes', { done: size(bytes) });
  return t('transfer.bytes_of', { done: size(bytes), total: size(total) });
}

/** 12 kB, 3.4 MB. */
function size(bytes: number): string {
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : [bytes / 1e6, 'MB'];
  return `${decimal(value, value < 10 ? 1 : 0)} ${unit}`;
}
