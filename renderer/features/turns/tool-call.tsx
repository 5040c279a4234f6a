import { useLayoutEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import { number, t } from '../../i18n/t.ts';
import { plainOutput, rawJson } from '../../select/code-text.ts';
import { lastLines, lineCount, outputParts, shownLines, type BlockOf } from '../../select/journal-blocks.ts';
import { mark, type Mark } from '../../select/mark.ts';
import { took } from '../../select/time-words.ts';
import { Since } from '../../ui/counted.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';

type Tool = BlockOf<'tool'>;

const marks: Record<Tool['status'], Mark> = {
  running: mark('half', 'run'),
  completed: mark('tick', 'ok'),
  failed: mark('xx', 'bad'),
  incomplete: mark('dash'),
};

/** The icon follows the usual names of tools; any other gets the common one. */
function toolIcon(name: string): IconName {
  if (/bash|shell|command|exec|terminal/i.test(name)) return 'term';
  if (/edit|write|patch|change/i.test(name)) return 'diff';
  if (/read|open|view|file/i.test(name)) return 'file';
  if (/search|grep|glob|find/i.test(name)) return 'search';
  if (/fetch|web|http|url/i.test(name)) return 'globe';
  return 'tool';
}

/** One call of a tool in one line; it opens to its input and output. */
export function ToolCall({ block }: { readonly block: Tool }): ReactElement {
  const [open, setOpen] = useState(false);
  return (
    <details className="tool" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name={toolIcon(block.name)} size={14} />
        <span className="nm">
          <VisibleText text={block.name === '' ? t('tool.unnamed') : block.name} />
        </span>
        <code className="cut">
          <VisibleText text={block.summary} />
        </code>
        <span className="when row">
          <StatusMark
            mark={marks[block.status]}
            label={t(`tool.${block.status}`)}
            turning={block.status === 'running'}
          />
          {block.status === 'running' ? (
            <Since time={block.at} />
          ) : block.duration_ms === null ? null : (
            took(block.duration_ms)
          )}
        </span>
      </summary>
      {open ? <ToolBody block={block} /> : null}
    </details>
  );
}

/** Lines a part of a fully shown output has; parts out of sight are not laid out. */
const partLines = 400;

function ToolBody({ block }: { readonly block: Tool }): ReactElement {
  const [all, setAll] = useState(false);
  const [input, setInput] = useState(false);
  const out = useRef<HTMLDivElement>(null);
  // The last lines are what one opens it for.
  useLayoutEffect(() => {
    if (out.current !== null) out.current.scrollTop = out.current.scrollHeight;
  }, []);
  const lines = lineCount(block.output, block.breaks);
  const cut = lines > shownLines;
  const parts = useMemo(
    () => (all ? outputParts(block.output, partLines) : [lastLines(block.output, shownLines).text]),
    [all, block.output],
  );
  const facts = [
    block.exit_code === null ? null : t('tool.exit', { code: block.exit_code }),
    lines === 0
      ? t('tool.no_output')
      : cut && !all
        ? t('tool.last_lines', { shown: shownLines, count: lines })
        : t('count.lines', { count: lines }),
  ].filter((fact) => fact !== null);
  return (
    <div className="out-frame">
      {input ? <div className="out input">{rawJson(block.input)}</div> : null}
      {cut && !all ? (
        <button type="button" className="fold" onClick={() => setAll(true)}>
          <Icon name="up" size={12} />
          {t('tool.show_all', { lines: number(lines) })}
        </button>
      ) : null}
      {lines === 0 ? null : (
        <div ref={out} className="out" tabIndex={0} role="group" aria-label={t('tool.output')}>
          {parts.map((part, index) => (
            <div key={index} className={all ? 'part far' : 'part'}>
              <VisibleText text={plainOutput(part)} />
            </div>
          ))}
        </div>
      )}
      <p className="out-foot">
        <span>{facts.join(' · ')}</span>
        {block.input === null || block.input === undefined ? null : (
          <button type="button" className="link" aria-expanded={input} onClick={() => setInput(!input)}>
            {input ? t('tool.hide_input') : t('tool.show_input')}
          </button>
        )}
      </p>
    </div>
  );
}
