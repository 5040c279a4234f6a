import { useState, type ReactElement } from 'react';
import { t } from '../i18n/t.ts';
import { useServices } from '../services.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

/** The older way, which needs no permission of the page: copies the selection of a field that is never seen. */
function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.className = 'sr';
  field.value = text;
  document.body.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return copied;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Copies what is shown, with codes in the place of characters that cannot be seen. */
export function CopyButton({ text }: { readonly text: () => string }): ReactElement {
  const { clock, toasts } = useServices();
  const [copied, setCopied] = useState(false);
  const onPress = async (): Promise<void> => {
    if (!(await copy(text()))) return toasts.failed(t('copy.failed'));
    setCopied(true);
    clock.after(2_000, () => setCopied(false));
  };
  return (
    <Button kind="ghost sm" onPress={() => void onPress()}>
      <Icon name={copied ? 'check' : 'copy'} size={14} />
      {copied ? t('copy.done') : t('copy')}
    </Button>
  );
}
