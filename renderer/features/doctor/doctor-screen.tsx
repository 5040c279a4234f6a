import { useCallback, useEffect, useState, type ReactElement } from 'react';
import type { CommandAnswer } from '../../../src/contract/commands.ts';
import { t } from '../../i18n/t.ts';
import { said } from '../../i18n/said.ts';
import { mark, type Mark } from '../../select/mark.ts';
import { healthBySeverity, healthMark } from '../../select/overview.ts';
import { at, clockTime, moment } from '../../select/time-words.ts';
import { useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { WithCode } from '../../ui/with-code.tsx';
import { useHeading } from '../shell/go.tsx';
import { Screen } from '../shell/screen.tsx';
import { DiagnosticsView, LogView } from './records.tsx';

const doctorTabs = ['findings', 'log', 'diagnostics'] as const;

type Checks = CommandAnswer<'doctor.run'>['checks'];

const deservesLook = (check: Checks[number]): boolean => !check.ok || check.level === 'warn';

interface Finding {
  readonly key: string;
  readonly mark: Mark;
  readonly label: string;
  readonly title: string;
  readonly text: string;
}

/** What is wrong with this machine, and what to do. Each line says what was measured. */
export function DoctorScreen(): ReactElement {
  const view = useView();
  const { link, clock } = useServices();
  const heading = useHeading();
  const [checks, setChecks] = useState<Checks | null>(null);
  const [checkedAt, setCheckedAt] = useState<number | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [tab, setTab] = useState<(typeof doctorTabs)[number]>('findings');
  const run = useCallback(() => {
    setBusy(true);
    link.call('doctor.run', {}).then(
      (answer) => {
        setChecks(answer.checks);
        setCheckedAt(clock.now());
        setFailed(null);
        setBusy(false);
      },
      (error: unknown) => {
        setFailed(error instanceof Error ? error.message : String(error));
        setBusy(false);
      },
    );
  }, [link, clock]);
  useEffect(run, [run]);

  const findings: readonly Finding[] = [
    ...healthBySeverity(view).map((item) => ({
      key: `health:${item.code}:${item.since}`,
      mark: healthMark(item.severity),
      label: t(`doctor.${item.severity}`),
      title: said(item.text),
      text: t('doctor.since', { next: said(item.next), at: moment(at(item.since), clock.now()) }),
    })),
    ...(checks ?? [])
      .filter((check) => deservesLook(check) && !view.health.some((item) => item.text === check.text))
      .map((check) => ({
        key: `check:${check.name}`,
        mark: check.level === 'fail' ? mark('xx', 'bad') : mark('bang', 'warn'),
        label: t(check.level === 'fail' ? 'doctor.error' : 'doctor.warning'),
        title: said(check.name),
        text: [check.text, check.next]
          .filter((part) => part !== null && part !== '')
          .map((part) => said(part ?? ''))
          .join(' '),
      })),
  ];
  const well = (checks ?? []).filter((check) => !deservesLook(check));
  return (
    <Screen
      bar={
        <>
          <h1 ref={heading} tabIndex={-1}>
            {t('nav.doctor')}
          </h1>
          {checkedAt === null ? null : (
            <span className="faint tnum">{t('doctor.checked', { at: clockTime(checkedAt) })}</span>
          )}
          <span className="grow" />
          <Segmented
            label={t('doctor.show')}
            value={tab}
            options={doctorTabs.map((value) => ({ value, text: t(`doctor.tab.${value}`) }))}
            onChange={setTab}
          />
          {tab === 'findings' ? (
            <Button kind="sm" blocked={busy ? t('doctor.checking') : null} onPress={run}>
              <Icon name="refresh" size={14} />
              {busy ? t('doctor.checking') : t('doctor.again')}
            </Button>
          ) : null}
        </>
      }
    >
      {tab === 'log' ? <LogView /> : null}
      {tab === 'diagnostics' ? <DiagnosticsView /> : null}
      <div className="measure" hidden={tab !== 'findings'}>
        <div className="lede">
          <h1>{lede(findings.length, checks !== null, failed !== null)}</h1>
          <p>{failed ?? t('doctor.measured')}</p>
        </div>
        {findings.length === 0 ? null : (
          <ul className="card list">
            {findings.map((finding) => (
              <li key={finding.key} className="set">
                <StatusMark mark={finding.mark} label={finding.label} />
                <div className="t">
                  <b>{finding.title}</b>
                  <p>
                    <WithCode text={finding.text} />
                  </p>
                </div>
              </li>
            ))}
          </ul>
        )}
        {well.length === 0 ? null : (
          <section className="sec well" aria-labelledby="h-well">
            <header>
              <h2 id="h-well">{t('doctor.nothing_found')}</h2>
              <span className="n">{well.length}</span>
            </header>
            <ul className="card list">
              {well.map((check) => (
                <li key={check.name} className="set check">
                  <StatusMark mark={mark('tick', 'ok')} label={t('doctor.nothing_found')} />
                  <div className="t">
                    <b>{said(check.name)}</b>
                    <p>{said(check.text)}</p>
                  </div>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </Screen>
  );
}

function lede(findings: number, checked: boolean, failed: boolean): string {
  if (findings > 0) return t('doctor.look', { count: findings });
  if (failed) return t('doctor.failed');
  return checked ? t('doctor.fine') : t('doctor.checking');
}
