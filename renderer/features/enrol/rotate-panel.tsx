import { useState, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { useServices } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { SecretText } from './secret-text.tsx';

/** Puts a rotated credential in the place of the old one, under the binding it is for. */
export function RotatePanel({
  name,
  onClose,
}: {
  readonly name: string;
  readonly onClose: () => void;
}): ReactElement {
  const { link, live, toasts } = useServices();
  const [text, setText] = useState('');
  const [asking, setAsking] = useState(false);
  const [fault, tell] = useState<string | null>(null);
  const setFault = (why: string | null): void => {
    tell(why);
    if (why !== null) live.say(why);
  };
  const rotate = (): void => {
    if (asking) return;
    if (text.trim() === '') return setFault(t('rotate.empty'));
    setAsking(true);
    setFault(null);
    link.call('binding.rotate', { binding: name, credential: text }).then(
      () => {
        toasts.done(t('rotate.done', { name }));
        onClose();
      },
      (reason: unknown) => {
        setAsking(false);
        setFault(reason instanceof Error ? reason.message : String(reason));
      },
    );
  };
  return (
    <section className="rotate" aria-label={t('rotate.title', { name })}>
      <p>{t('rotate.text')}</p>
      <SecretText
        label={t('rotate.field')}
        hint={t('enrol.key.hint')}
        value={text}
        onChange={setText}
        onFault={setFault}
      />
      {fault === null ? null : <p className="notice bad">{fault}</p>}
      <div className="row">
        <Button kind="primary" blocked={asking ? t('rotate.going') : null} onPress={rotate}>
          {asking ? t('rotate.going') : t('rotate.go')}
        </Button>
        <Button kind="ghost" onPress={onClose}>
          {t('enrol.leave')}
        </Button>
      </div>
    </section>
  );
}
