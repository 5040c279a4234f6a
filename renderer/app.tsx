import { useEffect, useRef, useSyncExternalStore, type ReactElement } from 'react';
import { DoctorScreen } from './features/doctor/doctor-screen.tsx';
import { EnrolScreen } from './features/enrol/enrol-screen.tsx';
import { HistoryScreen } from './features/history/history-screen.tsx';
import { HomeScreen } from './features/home/home-screen.tsx';
import { ComposeScreen } from './features/compose/compose-screen.tsx';
import { PromptScreen } from './features/prompts/prompt-screen.tsx';
import { SettingsScreen } from './features/settings/settings-screen.tsx';
import { LiveText, Toasts } from './features/shell/notices.tsx';
import { SideBar } from './features/shell/side-bar.tsx';
import {
  useAnnouncements,
  useGlobalKeys,
  useShellEvents,
  useWindowTitle,
} from './features/shell/use-window-life.ts';
import { TurnScreen } from './features/turns/turn-screen.tsx';
import { TurnsScreen } from './features/turns/turns-screen.tsx';
import { t } from './i18n/t.ts';
import { ServicesContext, useRoute, useServices, useWindowState, type Services } from './services.ts';
import { BrandMark } from './ui/icon.tsx';

/** The window: a projection of the latest view. It computes nothing that the daemon owns. */
export function App({ services }: { readonly services: Services }): ReactElement {
  const language = useSyncExternalStore(services.settings.subscribe, services.settings.language);
  return (
    <ServicesContext value={services}>
      {/* Drawn anew in another language: no part may keep a text of the former one. */}
      <Frame key={language} />
    </ServicesContext>
  );
}

function Frame(): ReactElement {
  const { view, status } = useWindowState();
  const { settings, link } = useServices();
  const main = useRef<HTMLElement>(null);
  useGlobalKeys();
  useShellEvents();
  useAnnouncements();
  useWindowTitle();
  useEffect(() => {
    // The theme that was kept is already painted; the daemon's word replaces it.
    if (status === 'open') settings.load().catch(() => undefined);
  }, [settings, status]);
  return (
    <>
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t('nav.skip')}
      </a>
      <div
        className={status === 'closed' ? 'app old' : 'app'}
        data-shell={link.shell}
        data-platform={link.platform}
      >
        {view === null ? (
          <Waiting />
        ) : (
          <>
            <SideBar />
            <main className="main" id="main" ref={main} tabIndex={-1}>
              <CurrentScreen />
            </main>
          </>
        )}
      </div>
      <Toasts />
      <LiveText />
    </>
  );
}

function CurrentScreen(): ReactElement {
  const route = useRoute();
  switch (route.screen) {
    case 'home':
      return <HomeScreen />;
    case 'compose':
      return <ComposeScreen />;
    case 'prompt':
      return <PromptScreen id={route.id} />;
    case 'turns':
      return <TurnsScreen />;
    case 'turn':
      return <TurnScreen runId={route.runId} />;
    case 'history':
      return <HistoryScreen />;
    case 'doctor':
      return <DoctorScreen />;
    case 'enrol':
      return <EnrolScreen id={route.id} />;
    case 'settings':
      return <SettingsScreen tab={route.tab} />;
  }
}

/** Before the first view there is nothing to draw, and it says which of the reasons it is. */
function Waiting(): ReactElement {
  const { status } = useWindowState();
  const { link } = useServices();
  return (
    <main className="waiting" id="main" tabIndex={-1}>
      <BrandMark size={44} />
      {status === 'connecting' ? (
        <p className="muted">{t('waiting.connecting')}</p>
      ) : (
        <>
          <h1>{status === 'unreadable' ? t('banner.unreadable') : t('banner.closed')}</h1>
          <p className="muted">
            {status === 'unreadable'
              ? t('banner.unreadable.next')
              : link.shell === 'browser'
                ? t('waiting.closed.browser')
                : t('banner.closed.desktop')}
          </p>
        </>
      )}
    </main>
  );
}
