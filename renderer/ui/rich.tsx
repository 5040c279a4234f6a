import { Fragment, type ReactElement, type ReactNode } from 'react';
import { textParts, type TextKey, type TextParams } from '../i18n/t.ts';

export interface RichProps {
  readonly id: TextKey;
  /** What stands at the places of the text: a link, a bold word. */
  readonly slots: Readonly<Record<string, ReactNode>>;
  readonly params?: TextParams;
}

/** A sentence of the catalogue with elements at its places, so that another language may put them elsewhere. */
export function Rich({ id, slots, params = {} }: RichProps): ReactElement {
  return (
    <>
      {textParts(id, params).map((part, index) => (
        <Fragment key={index}>
          {typeof part === 'string' ? part : (slots[part.slot] ?? params[part.slot] ?? '')}
        </Fragment>
      ))}
    </>
  );
}
