import type { ReactElement } from 'react';
import type { Mark, MarkShape } from '../select/mark.ts';

const line = { fill: 'none', stroke: 'currentColor' } as const;
const ring = <circle cx="8" cy="8" r="5.5" {...line} strokeWidth="2" />;
const disc = <circle cx="8" cy="8" r="6.5" fill="currentColor" />;

const shapes: Record<MarkShape, ReactElement> = {
  on: <circle cx="8" cy="8" r="5.5" fill="currentColor" />,
  half: (
    <>
      {ring}
      <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" />
    </>
  ),
  ring,
  dash: (
    <circle
      cx="8"
      cy="8"
      r="5.5"
      {...line}
      strokeWidth="2"
      strokeDasharray="3.46 2.3"
      strokeDashoffset="1.7"
    />
  ),
  bang: (
    <>
      {disc}
      <path d="M8 4.4v4.3" stroke="var(--cut)" strokeWidth="1.9" strokeLinecap="round" />
      <circle cx="8" cy="11.3" r="1.05" fill="var(--cut)" />
    </>
  ),
  slash: (
    <>
      {ring}
      <path d="M2.6 13.4 13.4 2.6" {...line} strokeWidth="2" strokeLinecap="round" />
    </>
  ),
  xx: (
    <>
      {disc}
      <path d="m5.6 5.6 4.8 4.8m0-4.8-4.8 4.8" stroke="var(--cut)" strokeWidth="1.7" strokeLinecap="round" />
    </>
  ),
  tick: (
    <>
      {disc}
      <path
        d="m4.9 8.3 2.2 2.2 4-4.5"
        fill="none"
        stroke="var(--cut)"
        strokeWidth="1.7"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </>
  ),
  minus: (
    <>
      <circle cx="8" cy="8" r="5.5" {...line} strokeWidth="1.8" />
      <path d="M5.5 8h5" {...line} strokeWidth="1.8" strokeLinecap="round" />
    </>
  ),
  hour: (
    <>
      <circle cx="8" cy="8" r="5.5" {...line} strokeWidth="1.8" />
      <path d="M8 5v3l2 1.5" {...line} strokeWidth="1.6" strokeLinecap="round" strokeLinejoin="round" />
    </>
  ),
  paus: <path d="M5.5 3.5v9M10.5 3.5v9" {...line} strokeWidth="2.6" strokeLinecap="round" />,
  sq: <rect x="3" y="3" width="10" height="10" rx="2" {...line} strokeWidth="2" />,
};

export interface StatusMarkProps {
  readonly mark: Mark;
  /** What the mark says, where no word beside it does. */
  readonly label?: string;
  readonly large?: boolean;
  readonly turning?: boolean;
}

/** A status mark. Always beside a word, or with a label of its own. */
export function StatusMark({ mark, label, large = false, turning = false }: StatusMarkProps): ReactElement {
  const name = ['g', mark.tone === 'none' ? '' : mark.tone, large ? 'lg' : '', turning ? 'turning' : '']
    .filter(Boolean)
    .join(' ');
  return (
    <svg
      className={name}
      viewBox="0 0 16 16"
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      {shapes[mark.shape]}
    </svg>
  );
}
