import type { ReactElement } from 'react';
import type { View } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { at, moment } from '../../select/time-words.ts';
import { useAct, useNow, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';

/** A newer version of the app: what is known of it, and the one step that comes next. */
export function UpdateRow(): ReactElement {
  const { link } = useServices();
  const act = useAct();
  const now = useNow();
  const { update, runtime } = useView();
  const step = steps[update.state];
  return (
    <li className="set">
      <div className="t">
        <b>{t('settings.update')}</b>
        <p role="status">{words(update, runtime.version, now)}</p>
      </div>
      {step === null ? null : (
        <Button kind="sm" onPress={() => act(() => link.call(step.command, {}))}>
          {t(step.text)}
        </Button>
      )}
    </li>
  );
}

const steps = {
  off: null,
  current: { command: 'update.look', text: 'settings.update.look' },
  looking: null,
  available: { command: 'update.download', text: 'settings.update.download' },
  downloading: null,
  ready: { command: 'update.install', text: 'settings.update.install' },
} as const;

function words(
  { state, version, percent, failed, checked_at }: View['update'],
  own: string,
  now: number,
): string {
  const named = { version: version ?? '' };
  switch (state) {
    case 'off':
      return t('settings.update.off', { version: own });
    case 'current':
      if (failed) return t('settings.update.not_looked', { version: own });
      return checked_at === null
        ? t('settings.update.unchecked', { version: own })
        : t('settings.update.current', { version: own, at: moment(at(checked_at), now) });
    case 'looking':
      return t('settings.update.looking');
    case 'available':
      return failed ? t('settings.update.not_downloaded', named) : t('settings.update.available', named);
    case 'downloading':
      return t('settings.update.downloading', { ...named, percent: percent ?? 0 });
    case 'ready':
      return t('settings.update.ready', named);
  }
}
