import { useState, type ReactElement } from 'react';
import { t } from '../i18n/t.ts';
import { useServices } from '../services.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

/** Copies what is shown, with codes in the place of characters that cannot be seen. */
export function CopyButton({
  text,
  kind = 'ghost sm',
}: {
  readonly text: () => string;
  readonly kind?: string;
}): ReactElement {
  const { clock, toasts } = useServices();
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text());
    setCopied(true);
    clock.after(2_000, () => setCopied(false));
  };
  return (
    <Button kind={kind} onPress={() => void copy().catch(() => toasts.failed(t('copy.failed')))}>
      <Icon name={copied ? 'check' : 'copy'} size={14} />
      {copied ? t('copy.done') : t('copy')}
    </Button>
  );
}
