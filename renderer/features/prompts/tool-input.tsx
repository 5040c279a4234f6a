import { memo, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import type { InputRow } from '../../select/tool-input.ts';
import { VisibleText } from '../../ui/visible-text.tsx';
import { EndLine } from './end-line.tsx';

export interface ToolInputProps {
  readonly id: string;
  readonly rows: readonly InputRow[];
  /** On a card of Home: without the words of the end line. */
  readonly short?: boolean;
}

/** The native input of a tool as label and value, all of it. */
export const ToolInput = memo(function ToolInput({ id, rows, short = false }: ToolInputProps): ReactElement {
  const characters = rows.reduce((sum, row) => sum + (row.value?.length ?? 0), 0);
  return (
    <div className="code input-block">
      {rows.length === 0 ? <p className="input-none">{t('tool.no_input')}</p> : null}
      <dl className="input-rows">
        {rows.map((row, index) => (
          <div key={index} className={`input-row depth-${Math.min(row.depth, 8)}`}>
            <dt>
              <VisibleText text={row.label} />
            </dt>
            {row.value === null ? null : (
              <dd>
                <VisibleText text={row.value} />
              </dd>
            )}
          </div>
        ))}
      </dl>
      {short ? (
        <EndLine id={id} bare />
      ) : (
        <EndLine id={id}>{[t('prompt.end.input'), t('count.characters', { count: characters })]}</EndLine>
      )}
    </div>
  );
});
