import {
  memo,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ReactElement,
} from 'react';
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

/** Lines and characters that a part of an output has at most. */
const partLines = 150;
const partLength = 16_384;
/** How far from sight a part is drawn, in pixels. */
const partAhead = 800;

function ToolBody({ block }: { readonly block: Tool }): ReactElement {
  const [all, setAll] = useState(false);
  const [input, setInput] = useState(false);
  const out = useRef<HTMLDivElement>(null);
  const nearTo = useRef<ReturnType<typeof nearness> | null>(null);
  const watch = useCallback((part: Element, near: () => void): (() => void) => {
    if (out.current === null) return () => undefined;
    nearTo.current ??= nearness(out.current);
    return nearTo.current(part, near);
  }, []);
  // The last lines are what one opens it for.
  useLayoutEffect(() => {
    if (out.current !== null) out.current.scrollTop = out.current.scrollHeight;
  }, [all]);
  const lines = lineCount(block.output, block.breaks);
  const cut = lines > shownLines;
  const parts = useMemo(
    () => outputParts(all ? block.output : lastLines(block.output, shownLines).text, partLines, partLength),
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
            <OutputPart key={index} text={part} drawn={index >= parts.length - 2} watch={watch} />
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

/** Tells parts of one scrolling box that they come near: one observer for all of them. */
function nearness(root: HTMLElement): (part: Element, near: () => void) => () => void {
  const waiting = new Map<Element, () => void>();
  const observer = new IntersectionObserver(
    (seen) => {
      for (const { isIntersecting, target } of seen) if (isIntersecting) waiting.get(target)?.();
    },
    { root, rootMargin: `${partAhead}px 0px` },
  );
  return (part, near) => {
    waiting.set(part, near);
    observer.observe(part);
    return () => {
      waiting.delete(part);
      observer.unobserve(part);
    };
  };
}

/** A part of an output: an empty box until it comes near, so that ten megabytes cost what is looked at. */
const OutputPart = memo(function OutputPart({
  text,
  drawn,
  watch,
}: {
  readonly text: string;
  readonly drawn: boolean;
  readonly watch: (part: Element, near: () => void) => () => void;
}): ReactElement {
  const [near, setNear] = useState(drawn);
  const box = useRef<HTMLDivElement>(null);
  const waits = !near && !drawn;
  useEffect(
    () => (waits && box.current !== null ? watch(box.current, () => setNear(true)) : undefined),
    [waits, watch],
  );
  return (
    <div ref={box} className={waits ? 'part empty' : drawn ? 'part' : 'part far'}>
      {waits ? null : <VisibleText text={plainOutput(text)} />}
    </div>
  );
});
