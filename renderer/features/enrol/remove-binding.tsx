import { useState, type ReactElement } from 'react';
import { CallError } from '../../bridge.ts';
import { t } from '../../i18n/t.ts';
import { useServices } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';

/** Removing asks first, and says what stays. Where the store does not answer it asks once more. */
export function RemoveBinding({
  name,
  kind = 'sm ghost',
}: {
  readonly name: string;
  readonly kind?: string;
}): ReactElement {
  const { link, toasts } = useServices();
  const [asking, setAsking] = useState<'remove' | 'leave' | null>(null);
  const remove = (leave: boolean): void => {
    link.call('binding.remove', { binding: name, leave_credential: leave }).then(
      () => toasts.done(t('remove.done', { name })),
      (reason: unknown) => {
        const store = reason instanceof CallError && reason.code === 'credential_store_unavailable';
        if (store && !leave) setAsking('leave');
        else toasts.failed(reason);
      },
    );
  };
  return (
    <>
      <Button kind={kind} label={t('remove.act_of', { name })} onPress={() => setAsking('remove')}>
        {t('remove.act')}
      </Button>
      {asking === 'remove' ? (
        <Dialog
          title={t('remove.title', { name })}
          text={t('remove.text')}
          act={t('remove.go')}
          onAct={() => remove(false)}
          onClose={() => setAsking(null)}
        />
      ) : null}
      {asking === 'leave' ? (
        <Dialog
          key="leave"
          title={t('remove.store_title')}
          text={t('remove.store_text')}
          act={t('remove.leave')}
          onAct={() => remove(true)}
          onClose={() => setAsking(null)}
        />
      ) : null}
    </>
  );
}
