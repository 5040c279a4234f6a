import { currentLanguage, decimal, t } from '../i18n/t.ts';

/** How times and durations are written: 14:31 today, else "Friday 14:31"; 4:12 counted; "2 s", "6 min" in a sentence. */
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const formats = new Map<string, Intl.DateTimeFormat>();
function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = currentLanguage() + JSON.stringify(options);
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat(currentLanguage(), options);
  formats.set(key, made);
  return made;
}

const hm = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

/** Unix milliseconds of an ISO 8601 time. */
export const at = (iso: string): number => Date.parse(iso);

/** 14:31 */
export const clockTime = (ms: number): string => format(hm).format(ms);

/** 14:31:02 */
export const clockSeconds = (ms: number): string => format({ ...hm, second: '2-digit' }).format(ms);

const midnight = (ms: number): number => new Date(ms).setHours(0, 0, 0, 0);
const daysBetween = (ms: number, now: number): number => Math.round((midnight(now) - midnight(ms)) / day);

/** 14:31 today, "Friday 14:31" within a week, else "20 November 14:31". */
export function moment(ms: number, now: number): string {
  const days = daysBetween(ms, now);
  if (days === 0) return clockTime(ms);
  if (days > 0 && days < 7) return `${format({ weekday: 'long' }).format(ms)} ${clockTime(ms)}`;
  return `${format({ day: 'numeric', month: 'long' }).format(ms)} ${clockTime(ms)}`;
}

/** "Today", "Yesterday", "Friday" or "20 November", for the heads of a list. */
export function dayName(ms: number, now: number): string {
  const days = daysBetween(ms, now);
  if (days === 0) return t('time.today');
  if (days === 1) return t('time.yesterday');
  if (days > 1 && days < 7) return format({ weekday: 'long' }).format(ms);
  return format({ day: 'numeric', month: 'long' }).format(ms);
}

const two = (value: number): string => String(value).padStart(2, '0');

/** 4:12, 1:02:03. Also for countdowns; never below 0:00. */
export function counted(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / second));
  const hours = Math.floor(seconds / 3_600);
  const rest = `${Math.floor((seconds % 3_600) / 60)}:${two(seconds % 60)}`;
  return hours === 0 ? rest : `${hours}:${rest.padStart(5, '0')}`;
}

/** A countdown rounds up, so that 0:00 is shown only when the time is over. */
export const countedDown = (ms: number): string => counted(Math.ceil(ms / second) * second);

/** "2 s", "6 min", "2 h", "3 days": the largest unit only, rounded down. */
export function span(ms: number): string {
  const value = Math.max(0, ms);
  if (value < minute) return t('time.seconds', { count: Math.floor(value / second) });
  if (value < hour) return t('time.minutes', { count: Math.floor(value / minute) });
  if (value < day) return t('time.hours', { count: Math.floor(value / hour) });
  return t('time.days', { count: Math.floor(value / day) });
}

/** "0.1 s", "3.8 s", "1:04": how long one tool call took. */
export const took = (ms: number): string =>
  ms < minute ? t('time.took', { seconds: decimal(ms / 1_000, 1) }) : counted(ms);
