import { awaitingPerson } from '../../../src/contract/awaiting.ts';
import { memo, type ReactElement } from 'react';
import type { BindingView } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { shortcuts, shortcutText, type Shortcut } from '../../keys.ts';
import type { Route } from '../../router.ts';
import { connectionLine } from '../../select/connection-line.ts';
import { runtimeFoot } from '../../select/overview.ts';
import { useAct, useNow, useRoute, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { BrandMark, Icon, type IconName } from '../../ui/icon.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { Go } from './go.tsx';

interface Item {
  readonly to: Route;
  readonly icon: IconName;
  readonly text: string;
  readonly shortcut: Shortcut;
  readonly screens: readonly Route['screen'][];
  readonly count?: ReactElement | null;
}

/** The side bar on every screen: where one is, what waits, how each binding is, and pausing. */
export function SideBar(): ReactElement {
  const view = useView();
  const { screen } = useRoute();
  const { link } = useServices();
  const prompts = awaitingPerson(view).length;
  const turns = view.turns.length;
  const look = view.health.filter((item) => item.severity !== 'info').length;
  const items: readonly Item[] = [
    {
      to: { screen: 'home' },
      icon: 'home',
      text: t('nav.home'),
      shortcut: shortcuts.home,
      screens: ['home', 'prompt', 'compose'],
      count: prompts === 0 ? null : <Count value={prompts} label={t('home.needs_you', { count: prompts })} />,
    },
    {
      to: { screen: 'turns' },
      icon: 'turns',
      text: t('nav.turns'),
      shortcut: shortcuts.turns,
      screens: ['turns', 'turn'],
      count: turns === 0 ? null : <Count quiet value={turns} label={t('nav.turns_open', { count: turns })} />,
    },
    {
      to: { screen: 'history' },
      icon: 'history',
      text: t('nav.history'),
      shortcut: shortcuts.history,
      screens: ['history'],
    },
    {
      to: { screen: 'doctor' },
      icon: 'doctor',
      text: t('nav.doctor'),
      shortcut: shortcuts.doctor,
      screens: ['doctor'],
      count: look === 0 ? null : <Count quiet value={look} label={t('doctor.look', { count: look })} />,
    },
    {
      to: { screen: 'settings', tab: 'bindings' },
      icon: 'settings',
      text: t('nav.settings'),
      shortcut: shortcuts.settings,
      screens: ['settings', 'enrol'],
    },
  ];
  return (
    <nav className="side" aria-label={t('nav.label')}>
      <div className="brand">
        <BrandMark />
        <span>{t('app.name')}</span>
      </div>
      <div className="nav">
        {items.map((item) => (
          <Go
            key={item.icon}
            to={item.to}
            current={item.screens.includes(screen)}
            title={`${item.text}  ${shortcutText(item.shortcut, link.platform)}`}
          >
            <Icon name={item.icon} />
            <span>{item.text}</span>
            {item.count}
          </Go>
        ))}
      </div>
      <h2>
        {t('nav.bindings')}
        <Go to={{ screen: 'enrol', id: null }} label={t('nav.enrol')} title={t('nav.enrol')}>
          <Icon name="plus" size={14} />
        </Go>
      </h2>
      <div className="nav binds">
        {view.bindings.map((binding) => (
          <BindingLink key={binding.name} binding={binding} unconfirmed={view.cleanup.length} />
        ))}
      </div>
      <SideFoot />
    </nav>
  );
}

function Count({
  value,
  label,
  quiet = false,
}: {
  readonly value: number;
  readonly label: string;
  readonly quiet?: boolean;
}): ReactElement {
  return (
    <span className={quiet ? 'count quiet' : 'count'}>
      <span aria-hidden>{value > 99 ? '99+' : value}</span>
      <span className="sr">{label}</span>
    </span>
  );
}

const BindingLink = memo(function BindingLink({
  binding,
  unconfirmed,
}: {
  readonly binding: BindingView;
  readonly unconfirmed: number;
}): ReactElement {
  const line = connectionLine(binding, { now: useNow(), unconfirmed });
  return (
    <Go to={{ screen: 'settings', tab: 'bindings' }} title={`${binding.name}: ${line.state}`}>
      <StatusMark mark={line.mark} />
      <span className="cut">{binding.name}</span>
      {line.note === null ? (
        <span className="sr">{line.label}</span>
      ) : (
        <span className="note tnum">{line.note}</span>
      )}
    </Go>
  );
});

function SideFoot(): ReactElement {
  const view = useView();
  const { link, settings } = useServices();
  const act = useAct();
  const foot = runtimeFoot(view, useNow());
  const goesOn = foot.state === 'paused' || foot.state === 'stopped';
  const toggleTheme = (): void => {
    const dark = document.documentElement.dataset['theme'] === 'dark';
    act(() => settings.change({ theme: dark ? 'light' : 'dark' }));
  };
  const toggleWork = (): void => {
    if (foot.state === 'stopped') act(() => link.call('runtime.start', {}), t('toast.started'));
    else if (goesOn) act(() => link.call('runtime.resume', {}), t('toast.resumed'));
    else act(() => link.call('runtime.pause', {}), t('toast.paused'));
  };
  return (
    <div className="side-foot">
      <div className="who">
        {foot.title}
        <span>{foot.text}</span>
      </div>
      <Button kind="ghost icon" label={t('nav.theme')} onPress={toggleTheme}>
        <Icon name="theme" />
      </Button>
      <Button
        kind="ghost icon"
        label={foot.state === 'stopped' ? t('nav.start') : goesOn ? t('nav.resume') : t('nav.pause')}
        blocked={foot.state === 'stopping' ? t('nav.pause.stopping') : null}
        onPress={toggleWork}
      >
        <Icon name={goesOn ? 'play' : 'pause'} />
      </Button>
    </div>
  );
}
