import type { ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { useAct, useServices, useView } from '../../services.ts';
import { Dialog } from '../../ui/dialog.tsx';

/** Stop now asks, and names how many Turns it ends. */
export function StopDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const { link } = useServices();
  const act = useAct();
  const count = useView().turns.length;
  return (
    <Dialog
      title={count === 0 ? t('stop.ask_none') : t('stop.ask', { count })}
      text={count === 0 ? t('stop.text_none') : t('stop.text')}
      act={count === 0 ? t('stop.act_none') : t('stop.act', { count })}
      onAct={() => act(() => link.call('runtime.stop', { mode: 'now' }))}
      onClose={onClose}
    />
  );
}
