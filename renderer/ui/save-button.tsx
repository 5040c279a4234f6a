import type { ReactElement } from 'react';
import { t } from '../i18n/t.ts';
import { useServices } from '../services.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

/** Saves a text where the person says. */
export function SaveButton({
  name,
  text,
}: {
  readonly name: string;
  readonly text: () => string | Promise<string>;
}): ReactElement {
  const { link, toasts } = useServices();
  const save = async (): Promise<void> => {
    try {
      if (await link.saveText(name, await text())) toasts.done(t('save.done', { name }));
    } catch {
      toasts.failed(t('save.failed', { name }));
    }
  };
  return (
    <Button kind="sm" onPress={() => void save()}>
      <Icon name="download" size={14} />
      {t('save')}
    </Button>
  );
}
