import { useEffect, useRef, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { settingsTabs, type SettingsTab } from '../../router.ts';
import { useServices } from '../../services.ts';
import { useHeading } from '../shell/go.tsx';
import { Screen } from '../shell/screen.tsx';
import { AgentsTab } from './agents-tab.tsx';
import { BindingsTab } from './bindings-tab.tsx';
import { GeneralTab, NotificationsTab } from './general-tab.tsx';
import { RulesTab } from './rules-tab.tsx';

const panels: Record<SettingsTab, () => ReactElement> = {
  bindings: BindingsTab,
  agents: AgentsTab,
  rules: RulesTab,
  notifications: NotificationsTab,
  general: GeneralTab,
};

/** Tabs as in the ARIA pattern: arrow keys move, the panel follows. */
export function SettingsScreen({ tab }: { readonly tab: SettingsTab }): ReactElement {
  const { router, settings } = useServices();
  const heading = useHeading();
  const tabs = useRef(new Map<SettingsTab, HTMLButtonElement>());
  useEffect(() => {
    settings.load().catch(() => undefined);
  }, [settings]);
  const pick = (next: SettingsTab): void => router.go({ screen: 'settings', tab: next });
  const Panel = panels[tab];
  return (
    <Screen
      bar={
        <>
          <h1 ref={heading} tabIndex={-1} className="before-tabs">
            {t('nav.settings')}
          </h1>
          <div
            className="tabs"
            role="tablist"
            aria-label={t('nav.settings')}
            onKeyDown={(event) => {
              const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
              const next =
                settingsTabs[(settingsTabs.indexOf(tab) + step + settingsTabs.length) % settingsTabs.length];
              if (step === 0 || next === undefined) return;
              event.preventDefault();
              pick(next);
              tabs.current.get(next)?.focus();
            }}
          >
            {settingsTabs.map((one) => (
              <button
                key={one}
                ref={(element) => {
                  if (element !== null) tabs.current.set(one, element);
                }}
                type="button"
                role="tab"
                id={`tab-${one}`}
                aria-controls="settings-panel"
                aria-selected={one === tab}
                tabIndex={one === tab ? 0 : -1}
                onClick={() => pick(one)}
              >
                {t(`settings.${one}`)}
              </button>
            ))}
          </div>
        </>
      }
    >
      <div className="measure" id="settings-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Panel />
      </div>
    </Screen>
  );
}
