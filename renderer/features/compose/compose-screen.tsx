import { useEffect, useRef, useState, type ReactElement } from 'react';
import type { HarnessView } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { said } from '../../i18n/said.ts';
import { pressed, shortcuts } from '../../keys.ts';
import { defaultAgent, localAgents } from '../../select/overview.ts';
import { folderName } from '../../select/prompt-shape.ts';
import { useServices, useView, useWindowState } from '../../services.ts';
import { Button, Caps } from '../../ui/button.tsx';
import { BrandMark, Icon } from '../../ui/icon.tsx';
import { Go, useHeading } from '../shell/go.tsx';
import { Screen } from '../shell/screen.tsx';

/** Most characters of a task, as the contract has it. */
const longestTask = 500_000;

/** The composer of the local Core: first run, and each later Turn. Within three clicks a Turn runs. */
export function ComposeScreen({ first = false }: { readonly first?: boolean }): ReactElement {
  const view = useView();
  const { link, router, toasts } = useServices();
  const { status } = useWindowState();
  const agents = localAgents(view);
  const local = view.bindings.find((binding) => binding.local);
  const folder = local?.workspace ?? null;
  const heading = useHeading();
  const field = useRef<HTMLTextAreaElement>(null);
  const [task, setTask] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const [starting, setStarting] = useState(false);
  const agent = agents.find((one) => one.kind === chosen && one.available) ?? defaultAgent(agents);
  const demo = agents.find((one) => one.kind === 'demo' && one.available);

  // Ctrl+N and the button of Home lead here to write; the first run does not take the focus by itself.
  useEffect(() => {
    if (!first) field.current?.focus({ preventScroll: true });
  }, [first]);

  const blocked = blockedStart({
    starting,
    agent,
    closed: status === 'closed',
    paused: view.runtime.state !== 'running',
  });
  const start = (): void => {
    if (blocked !== null || agent === null) return;
    if (task.trim() === '') {
      field.current?.focus();
      return;
    }
    setStarting(true);
    link.call('turn.start', { prompt: task, harness: agent.kind }).then(
      ({ run_id }) => router.go({ screen: 'turn', runId: run_id }, 'heading'),
      (error: unknown) => {
        setStarting(false);
        toasts.failed(error);
      },
    );
  };
  const suggest = (text: string, kind?: string): void => {
    setTask(text);
    if (kind !== undefined) setChosen(kind);
    field.current?.focus({ preventScroll: true });
  };

  return (
    <Screen>
      <div className="hello">
        <BrandMark size={44} />
        <h1 ref={heading} tabIndex={-1}>
          {t('compose.title')}
        </h1>
        <p>{local === undefined ? t('compose.no_local') : t('compose.lead')}</p>
        <div
          className="box"
          onKeyDown={(event) => {
            if (event.repeat || !pressed(event, shortcuts.send, link.platform)) return;
            event.preventDefault();
            start();
          }}
        >
          <textarea
            ref={field}
            rows={3}
            maxLength={longestTask}
            aria-label={t('compose.task')}
            placeholder={t('compose.placeholder')}
            value={task}
            onChange={(event) => setTask(event.target.value)}
          />
          <div className="row">
            <AgentPick agents={agents} agent={agent} onPick={setChosen} />
            {folder === null ? null : (
              <span className="pick still" title={folder}>
                <Icon name="folder" size={14} />
                <span className="cut">{folderName(folder)}</span>
              </span>
            )}
            <span className="grow" />
            <Caps shortcut={shortcuts.send} />
            <Button kind="primary" shortcut={shortcuts.send} blocked={blocked} onPress={start}>
              <Icon name="up" size={14} />
              {starting ? t('compose.starting') : t('compose.start')}
            </Button>
          </div>
        </div>
        <AgentNote agents={agents} agent={agent} />
        <div className="sugg">
          <button type="button" className="pick" onClick={() => suggest(t('suggest.explain.task'))}>
            {t('suggest.explain')}
          </button>
          <button type="button" className="pick" onClick={() => suggest(t('suggest.tests.task'))}>
            {t('suggest.tests')}
          </button>
          {demo === undefined ? null : (
            <button type="button" className="pick" onClick={() => suggest(t('suggest.demo.task'), demo.kind)}>
              {t('suggest.demo')}
            </button>
          )}
        </div>
        {first ? <Promises /> : null}
        {first ? (
          <p className="invited">
            {t('hello.invited')} <Go to={{ screen: 'enrol', id: null }}>{t('hello.enrol')}</Go>
          </p>
        ) : null}
      </div>
    </Screen>
  );
}

interface StartState {
  readonly starting: boolean;
  readonly agent: HarnessView | null;
  readonly closed: boolean;
  readonly paused: boolean;
}

function blockedStart({ starting, agent, closed, paused }: StartState): string | null {
  if (closed) return t('prompt.disconnected');
  if (starting) return t('compose.starting');
  if (agent === null) return t('compose.no_agent');
  if (paused) return t('compose.paused');
  return null;
}

function AgentPick({
  agents,
  agent,
  onPick,
}: {
  readonly agents: readonly HarnessView[];
  readonly agent: HarnessView | null;
  readonly onPick: (kind: string) => void;
}): ReactElement | null {
  if (agent === null) return null;
  return (
    <span className="pick select-pick">
      <Icon name="plug" size={14} />
      <span className="cut" aria-hidden>
        {agent.name}
      </span>
      <select
        aria-label={t('compose.agent')}
        value={agent.kind}
        onChange={(event) => onPick(event.target.value)}
      >
        {agents.map((one) => (
          <option key={one.kind} value={one.kind} disabled={!one.available}>
            {one.available ? one.name : t('compose.not_ready', { name: one.name })}
          </option>
        ))}
      </select>
      <Icon name="down" size={12} />
    </span>
  );
}

/** What one should know about the chosen agent: that it is a demo, or that none is ready and why. */
function AgentNote({
  agents,
  agent,
}: {
  readonly agents: readonly HarnessView[];
  readonly agent: HarnessView | null;
}): ReactElement | null {
  if (agent === null) {
    return (
      <div className="notice warn agent-note">
        <div>
          <b>{t('compose.no_agent')}</b>
          {agents.map((one) => (
            <p key={one.kind}>{one.reason === null ? one.name : `${one.name}: ${said(one.reason)}`}</p>
          ))}
        </div>
      </div>
    );
  }
  if (agent.kind !== 'demo') return null;
  return <p className="agent-note faint">{agent.reason === null ? t('compose.demo') : said(agent.reason)}</p>;
}

function Promises(): ReactElement {
  return (
    <div className="three">
      <div>
        <Icon name="ask" size={18} />
        <b>{t('hello.asks')}</b>
        <p>{t('hello.asks.text')}</p>
      </div>
      <div>
        <Icon name="rule" size={18} />
        <b>{t('hello.proven')}</b>
        <p>{t('hello.proven.text')}</p>
      </div>
      <div>
        <Icon name="folder" size={18} />
        <b>{t('hello.as_you')}</b>
        <p>{t('hello.as_you.text')}</p>
      </div>
    </div>
  );
}
