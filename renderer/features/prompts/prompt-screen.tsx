import { memo, useEffect, useLayoutEffect, useRef, type ReactElement } from 'react';
import type { InteractionView } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { shortcuts } from '../../keys.ts';
import { isOwn, type EndedPrompt } from '../../select/ended-prompts.ts';
import { mark } from '../../select/mark.ts';
import { bindingOf, neighbour, promptAge, promptQueue } from '../../select/prompt-queue.ts';
import { promptShape } from '../../select/prompt-shape.ts';
import { historyRow } from '../../select/history-row.ts';
import { useDesk, useNow, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { Go, useHeading } from '../shell/go.tsx';
import { Screen } from '../shell/screen.tsx';
import { endOf } from './ended-line.tsx';
import { PermissionDetail } from './permission-detail.tsx';
import { PromptTile } from './prompt-head.tsx';
import { QuestionDetail } from './question-detail.tsx';

/** The focus is nowhere, or in what just went away: it may be moved without taking it from the person. */
const focusIsFree = (): boolean =>
  document.activeElement === null ||
  document.activeElement === document.body ||
  document.activeElement.closest('.detail') !== null;

/** One prompt in full beside the queue. */
export function PromptScreen({ id }: { readonly id: string }): ReactElement {
  const { router } = useServices();
  const view = useView();
  const { ended } = useDesk();
  const queue = promptQueue(view);
  const interaction = queue.find((open) => open.id === id);
  const gone = ended.find((item) => item.interaction.id === id);
  const position = queue.findIndex((open) => open.id === id);

  const goTo = (next: string | null): void =>
    router.go(next === null ? { screen: 'home' } : { screen: 'prompt', id: next }, 'heading');
  const step = (by: 1 | -1): void => {
    const next = neighbour(queue, id, by);
    if (next !== null) goTo(next);
  };
  useLeaving({ id, open: interaction !== undefined, gone, queue });

  return (
    <Screen
      flush
      bar={
        <>
          <h1>{t('queue.title')}</h1>
          {position < 0 ? null : (
            <span className="faint tnum">
              {t('queue.place', { place: position + 1, count: queue.length })}
            </span>
          )}
          <span className="grow" />
          <RecentAnswer ended={ended} shown={id} />
          <Button
            kind="ghost icon"
            label={t('queue.previous')}
            shortcut={shortcuts.previousPrompt}
            blocked={neighbour(queue, id, -1) === null ? t('queue.first') : null}
            onPress={() => step(-1)}
          >
            <Icon name="left" />
          </Button>
          <Button
            kind="ghost icon"
            label={t('queue.next')}
            shortcut={shortcuts.nextPrompt}
            blocked={neighbour(queue, id, 1) === null ? t('queue.last') : null}
            onPress={() => step(1)}
          >
            <Icon name="right" />
          </Button>
        </>
      }
    >
      {queue.length === 0 ? null : (
        <div className="qlist pane" role="group" aria-label={t('queue.label')}>
          <h2>{t('queue.order')}</h2>
          {queue.map((open) => (
            <QueueLink key={open.id} interaction={open} current={open.id === id} />
          ))}
        </div>
      )}
      {interaction === undefined ? (
        <EndedDetail id={id} item={gone} next={queue[0]?.id ?? null} onNext={goTo} />
      ) : interaction.kind === 'user_choice' ? (
        <QuestionDetail key={id} interaction={interaction} onLater={() => goTo(null)} onNeighbour={step} />
      ) : (
        <PermissionDetail key={id} interaction={interaction} onLater={() => goTo(null)} onNeighbour={step} />
      )}
    </Screen>
  );
}

interface Leaving {
  readonly id: string;
  readonly open: boolean;
  readonly gone: EndedPrompt | undefined;
  readonly queue: readonly InteractionView[];
}

/**
 * After an own answer was applied the next prompt is shown, or Home when none is left. A prompt that was taken back or
 * answered elsewhere stays as its sentence until it was seen, so that no other prompt slips under the pointer.
 */
function useLeaving({ id, open, gone, queue }: Leaving): void {
  const { router, live } = useServices();
  const was = useRef<{ readonly id: string; readonly interaction: EndedPrompt | null }>({
    id,
    interaction: null,
  });
  const own = gone !== undefined && isOwn(gone);
  const text = gone === undefined ? null : endOf(gone).text;
  useEffect(() => {
    if (text !== null) live.say(text);
  }, [live, text]);
  // Before the next paint: the place of an answered prompt is never shown empty.
  useLayoutEffect(() => {
    if (gone !== undefined) was.current = { id, interaction: gone };
    const left = was.current.id === id ? was.current.interaction : null;
    if (open || left === null) return;
    if (!own && gone !== undefined) return;
    const next = queue.find((other) => other.since > left.interaction.since) ?? queue[0];
    router.go(
      next === undefined ? { screen: 'home' } : { screen: 'prompt', id: next.id },
      focusIsFree() ? 'heading' : null,
    );
  }, [id, open, gone, own, queue, router]);
}

/** The answer just given, in the bar, where it moves nothing. */
function RecentAnswer({
  ended,
  shown,
}: {
  readonly ended: readonly EndedPrompt[];
  readonly shown: string;
}): ReactElement | null {
  const item = ended.filter((other) => isOwn(other) && other.interaction.id !== shown).at(-1);
  if (item === undefined) return null;
  const end = endOf(item);
  return (
    <span className="recent cut">
      <StatusMark mark={end.mark} />
      <span className="cut">{end.text}</span>
    </span>
  );
}

/** Drawn anew only when it or the view changed: a step to the next of a hundred prompts touches two of them. */
const QueueLink = memo(function QueueLink({
  interaction,
  current,
}: {
  readonly interaction: InteractionView;
  readonly current: boolean;
}): ReactElement {
  const view = useView();
  const now = useNow();
  const shape = promptShape(interaction, bindingOf(view, interaction.binding));
  const age = promptAge(interaction, now);
  return (
    <Go to={{ screen: 'prompt', id: interaction.id }} current={current}>
      <PromptTile shape={shape} plain={!current} />
      <span className="cut">
        <b className="cut">{shape.title}</b>
        <span className="meta cut tnum">
          {t(interaction.expires_at === null ? 'queue.meta_waiting' : 'queue.meta', {
            binding: interaction.binding,
            age: age.text,
          })}
        </span>
      </span>
    </Go>
  );
});

interface EndedDetailProps {
  readonly id: string;
  readonly item: EndedPrompt | undefined;
  readonly next: string | null;
  readonly onNext: (id: string | null) => void;
}

/** In the place of a prompt that is not open any more: how it ended, and the way on. */
function EndedDetail({ id, item, next, onNext }: EndedDetailProps): ReactElement {
  const view = useView();
  const { desk } = useServices();
  const heading = useHeading();
  const known = view.history.filter((entry) => entry.id === id && entry.kind !== 'turn').at(-1);
  const end = item === undefined ? null : endOf(item);
  useEffect(() => {
    if (focusIsFree()) heading.current?.focus({ preventScroll: true });
  }, [heading]);
  const row = known === undefined ? null : historyRow(known);
  return (
    <article className="detail" aria-labelledby="prompt-title">
      <div className="detail-body" tabIndex={0}>
        <div className="head">
          <span className="tile plain">
            <StatusMark large mark={end?.mark ?? row?.mark ?? mark('dash')} />
          </span>
          <div className="grow">
            <h2 id="prompt-title" ref={heading} tabIndex={-1}>
              {item === undefined
                ? (row?.text ?? t('end.gone'))
                : promptShape(item.interaction, bindingOf(view, item.interaction.binding)).title}
            </h2>
            <p>{end?.text ?? row?.detail ?? (row === null ? t('end.gone.text') : '')}</p>
          </div>
        </div>
        <div className="actions">
          <Button
            kind="half"
            onPress={() => {
              desk.dismiss(id);
              onNext(next);
            }}
          >
            {next === null ? t('queue.to_home') : t('queue.to_next')}
          </Button>
        </div>
      </div>
    </article>
  );
}
