import { memo, useState, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import type { DiffPiece, DiffRow } from '../../select/diff-rows.ts';
import type { FileShape } from '../../select/prompt-shape.ts';
import { Icon } from '../../ui/icon.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';
import { EndLine } from './end-line.tsx';

export interface DiffViewProps {
  readonly id: string;
  readonly files: readonly FileShape[];
}

/** The change of each file, whole: additions and removals by sign and colour, unchanged lines folded. */
export const DiffView = memo(function DiffView({ id, files }: DiffViewProps): ReactElement {
  return (
    <>
      {files.map((file, index) => (
        <section
          key={`${index}:${file.path}`}
          className="diff"
          aria-label={t('diff.label', { path: file.path })}
        >
          <header>
            <Icon name="file" size={14} />
            <span className="path">
              <VisibleText text={file.path} />
            </span>
            {file.kind === 'update' ? null : <span className="chip">{t(`diff.kind.${file.kind}`)}</span>}
            {file.inside === false ? <span className="chip bad">{t('diff.outside')}</span> : null}
            <span className="grow" />
            <Stat added={file.diff.added} removed={file.diff.removed} />
          </header>
          {file.diff.rows.length === 0 ? (
            <p className="diff-none">{t('diff.whole_file')}</p>
          ) : (
            <div className="diff-body">
              <Rows rows={file.diff.rows} />
            </div>
          )}
          {index === files.length - 1 ? (
            <EndLine id={id}>{[t('prompt.end.change'), t('count.files', { count: files.length })]}</EndLine>
          ) : null}
        </section>
      ))}
    </>
  );
});

export function Stat({ added, removed }: { readonly added: number; readonly removed: number }): ReactElement {
  return (
    <span className="stat">
      <span className="a">+{added}</span> <span className="d">−{removed}</span>
    </span>
  );
}

function Rows({ rows }: { readonly rows: readonly DiffRow[] }): ReactElement {
  return (
    <>
      {rows.map((row, index) => (
        <Row key={index} row={row} />
      ))}
    </>
  );
}

function Row({ row }: { readonly row: DiffRow }): ReactElement {
  switch (row.kind) {
    case 'same':
      return (
        <div className="dl">
          <span>{row.old}</span>
          <span>{row.new}</span>
          <i />
          <code>
            <VisibleText text={row.text} />
          </code>
        </div>
      );
    case 'removed':
      return (
        <div className="dl d">
          <span>{row.old}</span>
          <span />
          <i>−</i>
          <Pieces pieces={row.pieces} />
        </div>
      );
    case 'added':
      return (
        <div className="dl a">
          <span />
          <span>{row.new}</span>
          <i>+</i>
          <Pieces pieces={row.pieces} />
        </div>
      );
    case 'fold':
      return <Fold rows={row.rows} />;
    case 'gap':
      return (
        <p className="fold still">
          {row.count === null ? t('diff.gap') : t('diff.unchanged', { count: row.count })}
        </p>
      );
    case 'note':
      return <p className="fold still">{row.text}</p>;
  }
}

function Pieces({ pieces }: { readonly pieces: readonly DiffPiece[] }): ReactElement {
  return (
    <code>
      {pieces.map((piece, index) =>
        piece.marked ? (
          <mark key={index}>
            <VisibleText text={piece.text} />
          </mark>
        ) : (
          <VisibleText key={index} text={piece.text} />
        ),
      )}
    </code>
  );
}

function Fold({ rows }: { readonly rows: readonly DiffRow[] }): ReactElement {
  const [open, setOpen] = useState(false);
  if (open) return <Rows rows={rows} />;
  return (
    <button type="button" className="fold" onClick={() => setOpen(true)}>
      <Icon name="down" size={12} />
      {t('diff.unchanged', { count: rows.length })}
    </button>
  );
}
