import type { ReactElement } from 'react';
import { useEndSeen } from './use-prompt.ts';

/** The last line of an input. Having had it on screen is what opens Allow. */
export function EndLine({
  id,
  children,
  bare = false,
}: {
  readonly id: string;
  readonly children?: string | readonly string[];
  readonly bare?: boolean;
}): ReactElement {
  const end = useEndSeen(id);
  const parts = children === undefined ? [] : typeof children === 'string' ? [children] : children;
  return (
    <p ref={end} className={bare ? 'end bare' : 'end'} data-end={id}>
      {parts.map((part) => (
        <span key={part}>{part}</span>
      ))}
    </p>
  );
}
