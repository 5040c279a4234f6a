import { useState, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { pressed, shortcuts } from '../../keys.ts';
import { useServices } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';

interface BoxProps {
  readonly label: string;
  readonly placeholder: string;
  readonly hint: string;
  readonly send: string;
  /** Rejects where nothing was sent; then the text stays. */
  readonly onSend: (text: string) => Promise<unknown>;
}

function Box({ label, placeholder, hint, send, onSend }: BoxProps): ReactElement {
  const { link, toasts } = useServices();
  const [text, setText] = useState('');
  const [sending, setSending] = useState(false);
  const submit = (): void => {
    if (sending || text.trim() === '') return;
    setSending(true);
    onSend(text).then(
      () => {
        setText('');
        setSending(false);
      },
      (error: unknown) => {
        setSending(false);
        toasts.failed(error);
      },
    );
  };
  return (
    <div className="composer">
      <div
        className="box"
        onKeyDown={(event) => {
          if (event.repeat || event.nativeEvent.isComposing || !pressed(event, shortcuts.send, link.platform))
            return;
          event.preventDefault();
          submit();
        }}
      >
        <textarea
          rows={Math.min(8, text.split('\n').length)}
          maxLength={500_000}
          aria-label={label}
          placeholder={placeholder}
          value={text}
          readOnly={sending}
          onChange={(event) => setText(event.target.value)}
        />
        <div className="row">
          <span className="faint hint small">{hint}</span>
          <span className="grow" />
          <Button
            kind="sm"
            shortcut={shortcuts.send}
            blocked={sending ? t('steer.sending') : null}
            onPress={submit}
          >
            <Icon name="steer" size={14} />
            {sending ? t('steer.sending') : send}
          </Button>
        </div>
      </div>
    </div>
  );
}

/** Adds something to a running Turn. Its receipt, written or accepted, arrives in the stream and nowhere else. */
export function SteerComposer({ runId }: { readonly runId: string }): ReactElement {
  const { link } = useServices();
  return (
    <Box
      label={t('steer.label')}
      placeholder={t('steer.placeholder')}
      hint={t('steer.hint')}
      send={t('steer.send')}
      onSend={(text) => link.call('turn.steer', { run_id: runId, text })}
    />
  );
}

/** Starts the next Turn where an ended one of the local Core left off. */
export function ContinueComposer({
  sessionId,
  harness,
}: {
  readonly sessionId: string;
  readonly harness: string;
}): ReactElement {
  const { link, router } = useServices();
  return (
    <Box
      label={t('continue.label')}
      placeholder={t('continue.placeholder')}
      hint={t('continue.hint')}
      send={t('compose.start')}
      onSend={async (text) => {
        const { run_id } = await link.call('turn.start', { prompt: text, session_id: sessionId, harness });
        router.go({ screen: 'turn', runId: run_id }, 'heading');
      }}
    />
  );
}
