import { memo, type ReactElement } from 'react';
import { segmentCommand, segmentHidden, type CodeSegment } from '../select/code-text.ts';

function Segments({ segments }: { readonly segments: readonly CodeSegment[] }): ReactElement {
  return (
    <>
      {segments.map((segment, index) =>
        segment.kind === 'text' ? (
          segment.text
        ) : segment.kind === 'operator' ? (
          <span key={index} className="op">
            {segment.text}
          </span>
        ) : (
          <span key={index} className="esc">
            {segment.code}
          </span>
        ),
      )}
    </>
  );
}

/** Foreign text as plain text: what cannot be seen or turns the direction is a code. */
export const VisibleText = memo(function VisibleText({ text }: { readonly text: string }): ReactElement {
  return <Segments segments={segmentHidden(text)} />;
});

/** One line of a command, with its operators marked. */
export const CommandText = memo(function CommandText({ line }: { readonly line: string }): ReactElement {
  return <Segments segments={segmentCommand(line)} />;
});
