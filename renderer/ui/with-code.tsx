import type { ReactElement } from 'react';

/** A sentence in which what stands between backticks can be typed into a terminal. */
export function WithCode({ text }: { readonly text: string }): ReactElement {
  return (
    <>{text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>))}</>
  );
}
