import { useSyncExternalStore, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { useServices } from '../../services.ts';
import { StatusMark } from '../../ui/status-mark.tsx';

/** Toasts at the bottom right. They wait while they are hovered or have the focus. */
export function Toasts(): ReactElement {
  const { toasts } = useServices();
  const shown = useSyncExternalStore(toasts.subscribe, toasts.get);
  return (
    <div
      className="toasts"
      role="status"
      aria-label={t('toast.label')}
      onMouseEnter={() => toasts.hold(true)}
      onMouseLeave={() => toasts.hold(false)}
      onFocus={() => toasts.hold(true)}
      onBlur={() => toasts.hold(false)}
    >
      {shown.map((toast) => (
        <div key={toast.id} className="toast">
          <StatusMark mark={toast.mark} />
          <span className="grow">{toast.text}</span>
          {toast.undo === null ? null : (
            <button
              type="button"
              className="btn sm ghost"
              onClick={() => {
                toasts.dismiss(toast.id);
                toast.undo?.();
              }}
            >
              {t('toast.undo')}
            </button>
          )}
          <button type="button" className="btn sm ghost" onClick={() => toasts.dismiss(toast.id)}>
            {t('toast.close')}
          </button>
        </div>
      ))}
    </div>
  );
}

/** What a screen reader hears. */
export function LiveText(): ReactElement {
  const { live } = useServices();
  const { polite, assertive, turn } = useSyncExternalStore(live.subscribe, live.get);
  return (
    <>
      <div className="sr" id="live" role="status" aria-live="polite">
        <span key={turn}>{polite}</span>
      </div>
      <div className="sr" id="live-urgent" role="alert" aria-live="assertive">
        {assertive}
      </div>
    </>
  );
}
