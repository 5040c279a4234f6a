import { useEffect, useId, useRef, type ReactElement } from 'react';
import { t } from '../i18n/t.ts';
import { Button } from './button.tsx';

export interface DialogProps {
  readonly title: string;
  readonly text: string;
  /** Names what it does, and how many. */
  readonly act: string;
  readonly onAct: () => void;
  readonly onClose: () => void;
}

/** The native dialog: focus on Go back, Esc goes back. Only for stopping, removing and recording without proof. */
export function Dialog({ title, text, act, onAct, onClose }: DialogProps): ReactElement {
  const element = useRef<HTMLDialogElement>(null);
  const head = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    dialog?.querySelector('button')?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={element} className="dialog" aria-labelledby={head} onClose={onClose} onCancel={onClose}>
      <h2 id={head}>{title}</h2>
      <p>{text}</p>
      <div className="actions">
        <Button onPress={onClose}>{t('dialog.back')}</Button>
        <Button
          kind="danger"
          onPress={() => {
            onAct();
            onClose();
          }}
        >
          {act}
        </Button>
      </div>
    </dialog>
  );
}
