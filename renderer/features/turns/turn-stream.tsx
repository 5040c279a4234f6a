import { memo, useLayoutEffect, useRef, useState, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { isTextField } from '../../keys.ts';
import type { Chunk } from '../../select/journal-blocks.ts';
import type { JournalState } from '../../store.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';
import { StreamBlock } from './stream-block.tsx';
import type { TurnRecord } from './turn-screen.tsx';

export interface TurnStreamProps {
  readonly journal: JournalState;
  readonly record: TurnRecord | null;
  readonly running: boolean;
}

/** This close to its end the stream follows what arrives, in CSS pixels. */
const followWithin = 48;

/** What the Turn printed. It follows new output until one scrolls up; End follows again. */
export function TurnStream({ journal, record, running }: TurnStreamProps): ReactElement {
  const stream = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [away, setAway] = useState(false);

  const toEnd = (): void => {
    const element = stream.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
    following.current = true;
    setAway(false);
  };
  useLayoutEffect(() => {
    if (following.current) toEnd();
  }, [journal.chunks]);

  const last = journal.chunks.at(-1)?.at(-1);
  return (
    <div className="stream-frame">
      <div
        ref={stream}
        className={running && last?.kind === 'say' ? 'stream writing' : 'stream'}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t('stream.label')}
        onScroll={(event) => {
          const { scrollHeight, scrollTop, clientHeight } = event.currentTarget;
          const near = scrollHeight - scrollTop - clientHeight < followWithin;
          following.current = near;
          if (away === near) setAway(!near);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'End' || isTextField(event.target)) return;
          event.preventDefault();
          toEnd();
        }}
      >
        {journal.chunks.map((chunk, index) => (
          <StreamChunk key={index} chunk={chunk} last={index === journal.chunks.length - 1} />
        ))}
        {journal.count === 0 ? <Nothing journal={journal} record={record} /> : null}
        {journal.error !== null && journal.count > 0 ? (
          <p className="notice warn">{t('stream.unread', { message: journal.error })}</p>
        ) : null}
      </div>
      {away && running ? (
        <div className="follow">
          <Button kind="sm" onPress={toEnd}>
            <Icon name="down" size={12} />
            {t('stream.follow')}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

/** A Turn without a journal: what the daemon kept of it, or that there is nothing (yet). */
function Nothing({
  journal,
  record,
}: {
  readonly journal: JournalState;
  readonly record: TurnRecord | null;
}): ReactElement {
  if (record !== null && (journal.complete || journal.error !== null)) {
    return (
      <>
        <div className="you">
          <div>
            <span className="lbl">{t('stream.task')}</span>
            <div className="plain">
              <VisibleText text={record.prompt} />
            </div>
          </div>
        </div>
        <p className="say">
          <VisibleText text={record.text} />
        </p>
      </>
    );
  }
  if (journal.error !== null)
    return <p className="notice warn">{t('stream.unread', { message: journal.error })}</p>;
  return <p className="faint">{journal.complete ? t('stream.nothing') : t('stream.reading')}</p>;
}

/** A run of blocks that is drawn again only when one of them changed, and laid out only near the screen. */
const StreamChunk = memo(function StreamChunk({
  chunk,
  last,
}: {
  readonly chunk: Chunk;
  readonly last: boolean;
}): ReactElement {
  return (
    <div className={last ? 'chunk' : 'chunk far'}>
      {chunk.map((block) => (
        <StreamBlock key={block.key} block={block} />
      ))}
    </div>
  );
});
