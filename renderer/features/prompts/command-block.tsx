import { memo, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { CommandText } from '../../ui/visible-text.tsx';
import { EndLine } from './end-line.tsx';

export interface CommandBlockProps {
  readonly id: string;
  readonly lines: readonly string[];
  readonly characters: number;
}

/** The whole command, its lines numbered. */
export const CommandBlock = memo(function CommandBlock({
  id,
  lines,
  characters,
}: CommandBlockProps): ReactElement {
  return (
    <div className="code">
      <ol>
        {lines.map((line, index) => (
          <li key={index}>
            <code>
              <CommandText line={line} />
            </code>
          </li>
        ))}
      </ol>
      <EndLine id={id}>
        {[
          t('prompt.end.command'),
          `${t('count.lines', { count: lines.length })}, ${t('count.characters', { count: characters })}`,
        ]}
      </EndLine>
    </div>
  );
});

/** A command short enough for a card on Home. */
export const ShortCommand = memo(function ShortCommand({
  id,
  lines,
}: Omit<CommandBlockProps, 'characters'>): ReactElement {
  return (
    <div className="code one">
      {lines.map((line, index) => (
        <div key={index}>
          <CommandText line={line} />
        </div>
      ))}
      <EndLine id={id} bare />
    </div>
  );
});
