import type { ReactElement } from 'react';
import { said } from '../../i18n/said.ts';
import { t } from '../../i18n/t.ts';
import { bannerItem, healthMark } from '../../select/overview.ts';
import { mark } from '../../select/mark.ts';
import { moment } from '../../select/time-words.ts';
import { useRoute, useServices, useWindowState } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { WithCode } from '../../ui/with-code.tsx';

/** One at a time, worst first: no connection to the daemon, a view that cannot be read, an error of the Runtime, no tray. */
export function WindowBanner(): ReactElement | null {
  const { clock, link, router } = useServices();
  const route = useRoute();
  const { view, status, viewAt } = useWindowState();
  if (status === 'closed') {
    return (
      <div className="banner bad">
        <StatusMark mark={mark('slash', 'bad')} />
        <span>
          <b>{t('banner.closed')}</b>{' '}
          {viewAt === null
            ? t('banner.closed.nothing')
            : t('banner.closed.old', { at: moment(viewAt, clock.now()) })}{' '}
          {link.shell === 'browser' ? t('banner.closed.browser') : t('banner.closed.desktop')}
        </span>
      </div>
    );
  }
  if (status === 'unreadable') {
    return (
      <div className="banner warn">
        <StatusMark mark={mark('bang', 'warn')} />
        <span>
          <b>{t('banner.unreadable')}</b> {t('banner.unreadable.next')}
        </span>
      </div>
    );
  }
  const item = view === null ? null : bannerItem(view);
  // Doctor lists it with all the others.
  const there = route.screen === 'doctor';
  if (item === null || (there && item.severity !== 'error')) return null;
  return (
    <div className={item.severity === 'error' ? 'banner bad' : 'banner warn'}>
      <StatusMark mark={healthMark(item.severity)} />
      <span>
        <b>{said(item.text)}</b> <WithCode text={said(item.next)} />
      </span>
      {there ? null : (
        <Button kind="sm" onPress={() => router.go({ screen: 'doctor' }, 'heading')}>
          {t('banner.more')}
        </Button>
      )}
    </div>
  );
}
