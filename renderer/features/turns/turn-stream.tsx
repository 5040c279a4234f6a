import { memo, useEffect, useLayoutEffect, useRef, useState, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { isTextField, shortcuts } from '../../keys.ts';
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
/** Chunks that are drawn while the stream follows its end, and how many more each time one scrolls up to the first. */
const drawnChunks = 4;

/** What the Turn printed. It follows new output until one scrolls up; End follows again. */
export function TurnStream({ journal, record, running }: TurnStreamProps): ReactElement {
  const stream = useRef<HTMLDivElement>(null);
  const { chunks } = journal;
  // How many of the first chunks are not drawn: fixed while one reads further up, null while the end is followed.
  const [pinned, setPinned] = useState<number | null>(null);
  const hidden = pinned ?? Math.max(0, chunks.length - drawnChunks);

  const toEnd = (): void => {
    const element = stream.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
    setPinned(null);
  };
  useLayoutEffect(() => {
    const element = stream.current;
    if (pinned === null && element !== null) element.scrollTop = element.scrollHeight;
  }, [chunks, pinned]);

  const last = chunks.at(-1)?.at(-1);
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
          if (near && pinned !== null) setPinned(null);
          if (!near && pinned === null) setPinned(hidden);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'End' || isTextField(event.target)) return;
          event.preventDefault();
          toEnd();
        }}
      >
        {hidden > 0 ? <Earlier onShow={() => setPinned(Math.max(0, hidden - drawnChunks))} /> : null}
        {chunks.slice(hidden).map((chunk, index) => (
          <StreamChunk key={hidden + index} chunk={chunk} last={hidden + index === chunks.length - 1} />
        ))}
        {journal.count === 0 ? <Nothing journal={journal} record={record} /> : null}
        {journal.error !== null && journal.count > 0 ? (
          <p className="notice warn">{t('stream.unread', { message: journal.error })}</p>
        ) : null}
      </div>
      {pinned !== null && running ? (
        <div className="follow">
          <Button kind="sm" shortcut={shortcuts.follow} onPress={toEnd}>
            <Icon name="down" size={12} />
            {t('stream.follow')}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

/** Stands for what came before: draws more of it when it comes into sight. */
function Earlier({ onShow }: { readonly onShow: () => void }): ReactElement {
  const line = useRef<HTMLDivElement>(null);
  const show = useRef(onShow);
  useLayoutEffect(() => {
    show.current = onShow;
  });
  useEffect(() => {
    const element = line.current;
    if (element === null) return undefined;
    const observer = new IntersectionObserver((seen) => {
      if (seen.some((entry) => entry.isIntersecting)) show.current();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={line} className="earlier">
      <Button kind="sm ghost" onPress={onShow}>
        {t('stream.earlier')}
      </Button>
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
