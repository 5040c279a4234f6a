import { useState, type ReactElement } from 'react';
import type { CleanupView } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { cleanupLine } from '../../select/cleanup-line.ts';
import { at, clockTime, moment } from '../../select/time-words.ts';
import { useAct, useNow, useServices } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';

/** What is not proven gone. Not shown at all when there is none. */
export function Cleanup({ items }: { readonly items: readonly CleanupView[] }): ReactElement | null {
  if (items.length === 0) return null;
  return (
    <section className="sec" aria-labelledby="h-un">
      <header>
        <h2 id="h-un" tabIndex={-1}>
          {t('cleanup.title')}
        </h2>
        <span className="n">{items.length}</span>
      </header>
      <div className="stack tight">
        {items.map((item) => (
          <CleanupItem key={item.id} item={item} />
        ))}
      </div>
    </section>
  );
}

function CleanupItem({ item }: { readonly item: CleanupView }): ReactElement {
  const { link, toasts, clock } = useServices();
  const act = useAct();
  const now = useNow();
  const [open, setOpen] = useState(false);
  const [asking, setAsking] = useState(false);
  const line = cleanupLine(item);
  const again = (): void =>
    act(async () => {
      const { confirmed } = await link.call('cleanup.retry', { id: item.id });
      if (confirmed) toasts.done(t('cleanup.gone', { at: clockTime(clock.now()) }));
      else toasts.unproven(t('cleanup.still'));
    });
  return (
    <article className="unset" aria-label={line.title}>
      <div className="row">
        <StatusMark mark={line.mark} label={line.label} />
        <b className="cut">{line.title}</b>
      </div>
      <p>{line.text}</p>
      <div className="acts row">
        <Button kind="sm" blocked={line.busy ? t('cleanup.busy') : null} onPress={again}>
          {line.busy ? t('cleanup.trying') : t('act.try_again')}
        </Button>
        <Button kind="sm ghost" expanded={open} onPress={() => setOpen(!open)}>
          {t('cleanup.details')}
        </Button>
      </div>
      {open ? (
        <div className="unset-more">
          <dl className="facts">
            <Fact label={t('cleanup.kind')} text={t(`cleanup.kind.${item.kind}`)} />
            {item.pid === null ? null : <Fact label={t('cleanup.pid')} text={String(item.pid)} />}
            <Fact label={t('cleanup.since')} text={moment(at(item.since), now)} />
            <Fact label={t('cleanup.tries')} text={String(item.attempts)} />
          </dl>
          <Button kind="sm danger" onPress={() => setAsking(true)}>
            {t('cleanup.force')}
          </Button>
        </div>
      ) : null}
      {asking ? (
        <Dialog
          title={t('cleanup.force.ask')}
          text={t('cleanup.force.text')}
          act={t('cleanup.force.act')}
          onAct={() => act(() => link.call('cleanup.force', { id: item.id }), t('toast.recorded'))}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </article>
  );
}

function Fact({ label, text }: { readonly label: string; readonly text: string }): ReactElement {
  return (
    <div className="fact">
      <dt>{label}</dt>
      <dd className="tnum">{text}</dd>
    </div>
  );
}
