import type { ReactElement } from 'react';
import type { InteractionView } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { rawJson } from '../../select/code-text.ts';
import { mark } from '../../select/mark.ts';
import type { PromptShape } from '../../select/prompt-shape.ts';
import { StatusMark } from '../../ui/status-mark.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';
import { CommandBlock } from './command-block.tsx';
import { DiffView, Stat } from './diff-view.tsx';
import { EndLine } from './end-line.tsx';
import { ToolInput } from './tool-input.tsx';

export interface PromptInputProps {
  readonly interaction: InteractionView;
  readonly shape: PromptShape;
  readonly raw: boolean;
}

/** What exactly is asked, large and whole, in its readable or its raw form. */
export function PromptInput({ interaction, shape, raw }: PromptInputProps): ReactElement {
  const { id } = interaction;
  if (raw) {
    return (
      <div className="code one">
        {rawJson(interaction.subject)}
        <EndLine id={id} bare />
      </div>
    );
  }
  switch (shape.kind) {
    case 'command':
      return <CommandBlock id={id} lines={shape.lines} characters={shape.characters} />;
    case 'file_change':
      return (
        <>
          <div className="row wide">
            <Stat added={shape.added} removed={shape.removed} />
            {shape.place === null ? null : shape.place === 'all_inside' ? (
              <span className="muted">{t('diff.place.all_inside', { count: shape.files.length })}</span>
            ) : (
              <span className="risk">{t('diff.place.some_outside')}</span>
            )}
          </div>
          <DiffView id={id} files={shape.files} />
        </>
      );
    case 'tool':
      return <ToolInput id={id} rows={shape.rows} />;
    case 'network':
      return (
        <div className="code host">
          <p className="host-name">
            {shape.host.pieces.map((piece, index) =>
              piece.foreign ? (
                <span key={index} className="foreign">
                  <VisibleText text={piece.text} />
                </span>
              ) : (
                <VisibleText key={index} text={piece.text} />
              ),
            )}
            {shape.port === null ? '' : ` : ${shape.port}`}
          </p>
          {shape.host.decoded === null ? null : (
            <p className="host-written">{t('host.written', { host: shape.host.written })}</p>
          )}
          <EndLine id={id}>{[t('prompt.end.host')]}</EndLine>
        </div>
      );
    case 'unshowable':
      return (
        <div className="notice warn">
          <StatusMark mark={mark('bang', 'warn')} />
          <div>
            <b>{t('unshowable.title')}</b> {t(`unshowable.${shape.why}`)} {t('unshowable.next')}
          </div>
        </div>
      );
    case 'question':
      return <></>;
  }
}

/** What to look at before answering: characters that cannot be seen, letters of other scripts, paths outside. */
export function PromptWarnings({ shape }: { readonly shape: PromptShape }): ReactElement {
  return (
    <>
      {shape.hidden.count === 0 ? null : (
        <div className="notice bad">
          <StatusMark mark={mark('bang', 'bad')} />
          <div>
            <b>{t('hidden.count', { count: shape.hidden.count })}</b>{' '}
            {t(shape.hidden.turns ? 'hidden.turns' : 'hidden.shown', {
              codes: shape.hidden.codes.join(', '),
            })}
          </div>
        </div>
      )}
      {shape.warnings.includes('lookalike') ? (
        <div className="notice bad">
          <StatusMark mark={mark('bang', 'bad')} />
          <div>
            <b>{t('host.lookalike')}</b> {t('host.lookalike.next')}
          </div>
        </div>
      ) : null}
    </>
  );
}
