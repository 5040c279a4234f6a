import { useId, useRef, useState, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { Button } from '../../ui/button.tsx';

/** Larger than any invitation or credential file. Bytes. */
const most = 64 * 1024;

export interface SecretTextProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onFault: (text: string | null) => void;
}

/** A field for a text that holds a secret: pasted, or taken from a file. Nothing suggests, checks or remembers it. */
export function SecretText({ label, hint, value, onChange, onFault }: SecretTextProps): ReactElement {
  const field = useId();
  const file = useRef<HTMLInputElement>(null);
  const [from, setFrom] = useState<string | null>(null);
  const take = async (chosen: File | undefined): Promise<void> => {
    if (chosen === undefined) return;
    const text = chosen.size > most ? null : await chosen.text().catch(() => null);
    onFault(text === null ? t('enrol.read.file_failed') : null);
    if (text === null) return;
    setFrom(chosen.name);
    onChange(text);
  };
  return (
    <div className="field">
      <div className="row">
        <label className="grow lbl" htmlFor={field}>
          {label}
        </label>
        <input
          ref={file}
          type="file"
          className="unseen"
          tabIndex={-1}
          aria-hidden
          onChange={(event) => {
            void take(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
        <Button kind="sm ghost" onPress={() => file.current?.click()}>
          {t('enrol.read.file')}
        </Button>
      </div>
      <textarea
        id={field}
        className="mono secret-text"
        rows={4}
        value={value}
        placeholder={t('enrol.read.placeholder')}
        autoComplete="off"
        autoCorrect="off"
        autoCapitalize="off"
        spellCheck={false}
        aria-describedby={`${field}-hint`}
        onChange={(event) => {
          setFrom(null);
          onChange(event.target.value);
        }}
      />
      <span id={`${field}-hint`} className="hint">
        {from === null ? hint : t('enrol.read.file_taken', { name: from })}
      </span>
    </div>
  );
}
