import { useState, type ReactElement } from 'react';
import type { Settings } from '../../../src/contract/settings.ts';
import { t, type TextKey } from '../../i18n/t.ts';
import { languages } from '../../language.ts';
import { runtimeFoot } from '../../select/overview.ts';
import { useAct, useNow, useServices, useSettings, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { NetworkSection } from './network-section.tsx';
import { UpdateRow } from './update-row.tsx';
import { StopDialog } from '../shell/stop-dialog.tsx';

type Flag = { [K in keyof Settings]: Settings[K] extends boolean ? K : never }[keyof Settings];

interface SwitchRowProps {
  readonly name: Flag;
  readonly title: TextKey;
  readonly text: TextKey;
}

function SwitchRow({ name, title, text }: SwitchRowProps): ReactElement {
  const { settings } = useServices();
  const act = useAct();
  const current = useSettings();
  return (
    <li className="set">
      <div className="t">
        <b id={`set-${name}`}>{t(title)}</b>
        <p id={`set-${name}-text`}>{t(text)}</p>
      </div>
      <input
        className="switch"
        type="checkbox"
        role="switch"
        aria-labelledby={`set-${name}`}
        aria-describedby={`set-${name}-text`}
        checked={current?.[name] ?? false}
        disabled={current === null}
        onChange={(event) => act(() => settings.change({ [name]: event.target.checked }))}
      />
    </li>
  );
}

export function NotificationsTab(): ReactElement {
  return (
    <>
      <p className="muted tab-lead">{t('settings.notifications.lead')}</p>
      <ul className="card list">
        <SwitchRow name="notifications" title="settings.notify" text="settings.notify.text" />
      </ul>
      <div className="notice after-list">
        <Icon name="ask" />
        <div>{t('settings.notify.none')}</div>
      </div>
    </>
  );
}

export function GeneralTab(): ReactElement {
  const { settings, link } = useServices();
  const act = useAct();
  const current = useSettings();
  const desktop = link.shell === 'desktop';
  const tray = !useView().health.some(({ code }) => code === 'no_tray');
  return (
    <>
      <ul className="card list">
        <LanguageRow />
        <li className="set">
          <div className="t">
            <b id="set-theme">{t('settings.theme')}</b>
          </div>
          <span className="selectbox">
            <select
              className="select"
              aria-labelledby="set-theme"
              value={current?.theme ?? settings.theme}
              onChange={(event) => {
                const theme = (['system', 'light', 'dark'] as const).find(
                  (one) => one === event.target.value,
                );
                if (theme !== undefined) act(() => settings.change({ theme }));
              }}
            >
              <option value="system">{t('settings.theme.system')}</option>
              <option value="light">{t('settings.theme.light')}</option>
              <option value="dark">{t('settings.theme.dark')}</option>
            </select>
            <Icon name="down" size={12} />
          </span>
        </li>
        {desktop ? (
          <>
            <SwitchRow name="start_at_login" title="settings.login" text="settings.login.text" />
            <SwitchRow
              name="start_minimised"
              title="settings.minimised"
              text={tray ? 'settings.minimised.text' : 'settings.minimised.no_tray'}
            />
            <SwitchRow name="keep_awake" title="settings.awake" text="settings.awake.text" />
            <QuitRow tray={tray} />
          </>
        ) : null}
      </ul>
      <h2 className="tab-head">{t('settings.update')}</h2>
      <ul className="card list">
        <UpdateRow />
      </ul>
      <NetworkSection />
      <h2 className="tab-head">{t('settings.work')}</h2>
      <WorkRows />
    </>
  );
}

const quitChoices = ['ask', 'after_turns', 'now'] as const;

/** What quitting does while Turns are open. Closing the window never quits. */
function QuitRow({ tray }: { readonly tray: boolean }): ReactElement {
  const { settings } = useServices();
  const act = useAct();
  const current = useSettings();
  return (
    <li className="set">
      <div className="t">
        <b id="set-on-quit">{t('settings.on_quit')}</b>
        <p id="set-on-quit-text">{t(tray ? 'settings.on_quit.text' : 'settings.on_quit.no_tray')}</p>
      </div>
      <span className="selectbox">
        <select
          className="select"
          aria-labelledby="set-on-quit"
          aria-describedby="set-on-quit-text"
          value={current?.on_quit ?? 'ask'}
          disabled={current === null}
          onChange={(event) => {
            const choice = quitChoices.find((one) => one === event.target.value);
            if (choice !== undefined) act(() => settings.change({ on_quit: choice }));
          }}
        >
          {quitChoices.map((choice) => (
            <option key={choice} value={choice}>
              {t(`settings.on_quit.${choice}`)}
            </option>
          ))}
        </select>
        <Icon name="down" size={12} />
      </span>
    </li>
  );
}

const languageChoices = ['system', ...languages] as const;

function LanguageRow(): ReactElement {
  const { settings } = useServices();
  const act = useAct();
  const current = useSettings();
  return (
    <li className="set">
      <div className="t">
        <b id="set-language">{t('settings.language')}</b>
      </div>
      <span className="selectbox">
        <select
          className="select"
          id="select-language"
          aria-labelledby="set-language"
          value={current?.language ?? settings.languageChoice}
          onChange={(event) => {
            const language = languageChoices.find((one) => one === event.target.value);
            if (language === undefined) return;
            act(() => settings.change({ language }));
            // The whole window is drawn anew, this field too: the keyboard stays where it was.
            requestAnimationFrame(() => document.getElementById('select-language')?.focus());
          }}
        >
          {languageChoices.map((language) => (
            <option key={language} value={language} lang={language === 'system' ? undefined : language}>
              {t(`settings.language.${language}`)}
            </option>
          ))}
        </select>
        <Icon name="down" size={12} />
      </span>
    </li>
  );
}

/** Pausing and stopping are different: pause takes no new work, stop says what it ends. */
function WorkRows(): ReactElement {
  const { link } = useServices();
  const act = useAct();
  const foot = runtimeFoot(useView(), useNow());
  const [asking, setAsking] = useState(false);
  if (foot.state === 'stopped') {
    return (
      <ul className="card list">
        <li className="set">
          <div className="t">
            <b>{t('settings.stopped')}</b>
            <p>{t('settings.stopped.text')}</p>
          </div>
          <Button kind="sm" onPress={() => act(() => link.call('runtime.start', {}), t('toast.started'))}>
            {t('act.start')}
          </Button>
        </li>
      </ul>
    );
  }
  return (
    <ul className="card list">
      <li className="set">
        <div className="t">
          <b>{foot.state === 'paused' ? t('settings.paused') : t('settings.pause')}</b>
          <p>{t('settings.pause.text')}</p>
        </div>
        {foot.state === 'paused' ? (
          <Button kind="sm" onPress={() => act(() => link.call('runtime.resume', {}), t('toast.resumed'))}>
            {t('act.resume')}
          </Button>
        ) : (
          <Button
            kind="sm"
            blocked={foot.state === 'stopping' ? t('nav.pause.stopping') : null}
            onPress={() => act(() => link.call('runtime.pause', {}), t('toast.paused'))}
          >
            {t('act.pause')}
          </Button>
        )}
      </li>
      <li className="set">
        <div className="t">
          <b>{t('settings.stop')}</b>
          <p>{t('settings.stop.text')}</p>
        </div>
        <Button
          kind="sm"
          blocked={foot.state === 'stopping' ? t('nav.pause.stopping') : null}
          onPress={() => act(() => link.call('runtime.stop', { mode: 'after_turns' }))}
        >
          {t('act.stop_after')}
        </Button>
        <Button kind="sm danger" onPress={() => setAsking(true)}>
          {t('act.stop_now')}
        </Button>
      </li>
      {asking ? <StopDialog onClose={() => setAsking(false)} /> : null}
    </ul>
  );
}
