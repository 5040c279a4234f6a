import { useId, useState, type ReactElement } from 'react';
import type { Settings } from '../../../src/contract/settings.ts';
import { t } from '../../i18n/t.ts';
import { useAct, useServices, useSettings } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';

const ways = ['system', 'none', 'manual'] as const;

/** How other machines are reached. A way that needs no more is used at once; an address, when it is saved. */
export function NetworkSection(): ReactElement {
  const { settings } = useServices();
  const act = useAct();
  const current = useSettings();
  const [wanted, setWanted] = useState<Settings['proxy'] | null>(null);
  const way = wanted ?? current?.proxy ?? 'system';
  return (
    <>
      <h2 className="tab-head">{t('settings.network')}</h2>
      <ul className="card list">
        <li className="set">
          <div className="t">
            <b id="set-proxy">{t('settings.proxy')}</b>
            <p id="set-proxy-text">{t(`settings.proxy.${way}.text`)}</p>
          </div>
          <span className="selectbox">
            <select
              className="select"
              aria-labelledby="set-proxy"
              aria-describedby="set-proxy-text"
              value={way}
              disabled={current === null}
              onChange={(event) => {
                const proxy = ways.find((one) => one === event.target.value);
                if (proxy === undefined) return;
                setWanted(proxy === 'manual' ? proxy : null);
                if (proxy !== 'manual') act(() => settings.change({ proxy }));
              }}
            >
              {ways.map((one) => (
                <option key={one} value={one}>
                  {t(`settings.proxy.${one}`)}
                </option>
              ))}
            </select>
            <Icon name="down" size={12} />
          </span>
        </li>
        {way === 'manual' && current !== null ? (
          <li className="set">
            <ProxyForm current={current} onSaved={() => setWanted(null)} />
          </li>
        ) : null}
        {current === null ? null : (
          <li className="set">
            <ExtraAuthority current={current} />
          </li>
        )}
      </ul>
    </>
  );
}

function ProxyForm(props: { readonly current: Settings; readonly onSaved: () => void }): ReactElement {
  const { settings, link } = useServices();
  const act = useAct();
  const id = useId();
  const [url, setUrl] = useState(props.current.proxy_url);
  const [user, setUser] = useState(props.current.proxy_user);
  const [password, setPassword] = useState<string | null>(null);
  const save = async (): Promise<void> => {
    await settings.change({ proxy: 'manual', proxy_url: url.trim(), proxy_user: user.trim() });
    // Without a user there is nothing that a password would be for.
    const kept = user.trim() === '' ? '' : password;
    if (kept !== null) await link.call('proxy.password', { password: kept });
    setPassword(null);
    props.onSaved();
  };
  return (
    <form
      className="t net-form"
      aria-labelledby="set-proxy"
      onSubmit={(event) => {
        event.preventDefault();
        act(save, t('toast.network_saved'));
      }}
    >
      <div className="field">
        <label htmlFor={`${id}-url`}>{t('settings.proxy.url')}</label>
        <input
          id={`${id}-url`}
          className="input mono"
          value={url}
          placeholder="http://proxy.example.com:3128"
          autoComplete="off"
          spellCheck={false}
          maxLength={2_048}
          onChange={(event) => setUrl(event.target.value)}
        />
      </div>
      <div className="field">
        <label htmlFor={`${id}-user`}>{t('settings.proxy.user')}</label>
        <input
          id={`${id}-user`}
          className="input"
          value={user}
          autoComplete="off"
          spellCheck={false}
          maxLength={255}
          onChange={(event) => setUser(event.target.value)}
        />
      </div>
      <div className="field">
        <label htmlFor={`${id}-password`}>{t('settings.proxy.password')}</label>
        <input
          id={`${id}-password`}
          className="input"
          type="password"
          value={password ?? ''}
          autoComplete="off"
          disabled={user.trim() === ''}
          maxLength={1_024}
          aria-describedby={`${id}-hint`}
          onChange={(event) => setPassword(event.target.value)}
        />
        <span className="hint" id={`${id}-hint`}>
          {t('settings.proxy.password.hint')}
        </span>
      </div>
      <div className="row">
        <Button kind="sm" onPress={() => act(save, t('toast.network_saved'))}>
          {t('settings.proxy.save')}
        </Button>
      </div>
    </form>
  );
}

function ExtraAuthority({ current }: { readonly current: Settings }): ReactElement {
  const { settings } = useServices();
  const act = useAct();
  const id = useId();
  const [path, setPath] = useState(current.extra_ca);
  const save = (): void => act(() => settings.change({ extra_ca: path.trim() }), t('toast.network_saved'));
  return (
    <form
      className="t net-form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div className="field">
        <label htmlFor={id}>{t('settings.ca')}</label>
        <input
          id={id}
          className="input mono"
          value={path}
          placeholder={t('settings.ca.placeholder')}
          autoComplete="off"
          spellCheck={false}
          maxLength={4_096}
          aria-describedby={`${id}-hint`}
          onChange={(event) => setPath(event.target.value)}
        />
        <span className="hint" id={`${id}-hint`}>
          {t('settings.ca.text')}
        </span>
      </div>
      <div className="row">
        <Button kind="sm" onPress={save}>
          {t('settings.ca.save')}
        </Button>
      </div>
    </form>
  );
}
