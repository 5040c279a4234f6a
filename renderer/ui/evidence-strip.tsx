import { memo, type ReactElement } from 'react';
import { stripWords, type Pip, type Strip } from '../select/turn-line.ts';

const classes: Record<Pip, string> = { observed: 'p', now: 'n', waiting: 'w', maybe: 'u', not_yet: '' };

/** Five pips, prepared to settled; the label says the same in words. */
export const EvidenceStrip = memo(function EvidenceStrip({ strip }: { readonly strip: Strip }): ReactElement {
  const words = stripWords(strip);
  return (
    <span className="ev" role="img" aria-label={words} title={words}>
      {strip.map((pip, index) => (
        <i key={index} className={classes[pip]} />
      ))}
    </span>
  );
});
