import type { BindingView, FileChange, InteractionView } from '../../src/contract/view.ts';
import { currentLanguage, t } from '../i18n/t.ts';
import { commandLines, hiddenCharacters, isChained, showHidden, type HiddenCharacters } from './code-text.ts';
import { parseDiff, type ParsedDiff } from './diff-rows.ts';
import { hostName, type HostName } from './host-name.ts';
import { inputRows, type InputRow } from './tool-input.ts';

/** What a prompt asks, prepared for the eye: the input whole, its size, and what to look at before answering. */
export type PromptShape = {
  readonly title: string;
  readonly hidden: HiddenCharacters;
  readonly warnings: readonly PromptWarning[];
  /** Why Home offers only Review or Answer, or null where the whole input fits into the card. */
  readonly folded: boolean;
} & (
  | {
      readonly kind: 'command';
      readonly lines: readonly string[];
      readonly characters: number;
      readonly folder: FolderFact | null;
    }
  | {
      readonly kind: 'file_change';
      readonly files: readonly FileShape[];
      readonly added: number;
      readonly removed: number;
      readonly place: Place | null;
    }
  | {
      readonly kind: 'tool';
      readonly name: string;
      readonly server: string | null;
      readonly rows: readonly InputRow[];
    }
  | {
      readonly kind: 'network';
      readonly host: HostName;
      readonly port: number | null;
      readonly protocol: string | null;
    }
  | { readonly kind: 'question' }
  /** The input is empty or was not shown by the agent: only Deny and Later. */
  | {
      readonly kind: 'unshowable';
      readonly of: 'command' | 'file_change' | 'tool' | 'network';
      readonly why: 'no_command' | 'no_change' | 'no_diff' | 'no_input' | 'no_host';
    }
);
export type PromptKind = PromptShape['kind'];

/** What kind of thing is asked, also where it cannot be shown. */
export const subjectOf = (shape: PromptShape): Exclude<PromptKind, 'unshowable'> =>
  shape.kind === 'unshowable' ? shape.of : shape.kind;

export type PromptWarning = 'hidden' | 'outside' | 'lookalike';
export type Place = 'all_inside' | 'some_outside';
export interface FolderFact {
  readonly path: string;
  readonly place: 'bound' | 'inside' | 'outside' | 'unknown';
  /** Name of the bound folder. */
  readonly bound: string | null;
}
export interface FileShape {
  readonly path: string;
  readonly kind: FileChange['kind'];
  readonly inside: boolean | null;
  readonly diff: ParsedDiff;
}

/** A card folds on Home beyond this: more lines cannot be taken in at a glance. */
export const mostLinesOnHome = 3;
/** A line breaks about here in the narrowest card, so this many characters are three lines. */
const charactersALine = 80;

const fits = (lines: readonly string[]): boolean =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / charactersALine)), 0) <=
  mostLinesOnHome;

export const folderName = (path: string): string =>
  path
    .replace(/[/\\]+$/, '')
    .split(/[/\\]/)
    .at(-1) ?? path;

const none: HiddenCharacters = { count: 0, codes: [], turns: false };

const shapes = new WeakMap<
  InteractionView,
  { readonly workspace: string | null; readonly language: string; readonly shape: PromptShape }
>();

/** Computed once for each snapshot of an interaction: a large diff is not parsed again every second. */
export function promptShape(interaction: InteractionView, binding: BindingView | undefined): PromptShape {
  const workspace = binding?.workspace ?? null;
  const known = shapes.get(interaction);
  const language = currentLanguage();
  if (known?.workspace === workspace && known.language === language) return known.shape;
  const shape = compute(interaction, workspace);
  shapes.set(interaction, { workspace, language, shape });
  return shape;
}

function compute(interaction: InteractionView, workspace: string | null): PromptShape {
  const { subject } = interaction;
  if (interaction.kind === 'user_choice' || subject.kind === 'question') {
    return {
      kind: 'question',
      title: t('prompt.title.question', { count: interaction.questions.length }),
      hidden: none,
      warnings: [],
      folded: true,
    };
  }
  switch (subject.kind) {
    case 'command':
      return commandShape(subject.command, subject.cwd, workspace);
    case 'file_change':
      return fileShape(subject.changes);
    case 'tool':
      return toolShape(subject.name, subject.server, subject.input);
    case 'network':
      return networkShape(subject.host, subject.port, subject.protocol);
  }
}

const unshowable = (
  of: Extract<PromptShape, { kind: 'unshowable' }>['of'],
  title: string,
  why: Extract<PromptShape, { kind: 'unshowable' }>['why'],
): PromptShape => ({
  kind: 'unshowable',
  of,
  title,
  why,
  hidden: none,
  warnings: [],
  folded: true,
});

function commandShape(command: string, cwd: string | null, workspace: string | null): PromptShape {
  if (command.trim() === '') return unshowable('command', t('prompt.title.command'), 'no_command');
  const lines = commandLines(command);
  const hidden = hiddenCharacters(command);
  const folder = cwd === null ? null : folderFact(cwd, workspace);
  const warnings: PromptWarning[] = [];
  if (hidden.count > 0) warnings.push('hidden');
  if (folder?.place === 'outside') warnings.push('outside');
  return {
    kind: 'command',
    title: isChained(command) ? t('prompt.title.chained') : t('prompt.title.command'),
    lines,
    characters: Array.from(command).length,
    folder,
    hidden,
    warnings,
    folded: warnings.length > 0 || !fits(lines),
  };
}

function folderFact(cwd: string, workspace: string | null): FolderFact {
  if (workspace === null) return { path: cwd, place: 'unknown', bound: null };
  const clean = (path: string): string => path.replace(/[/\\]+$/, '');
  const bound = folderName(workspace);
  const path = clean(cwd);
  const root = clean(workspace);
  if (path === root) return { path: cwd, place: 'bound', bound };
  const relative =
    path.startsWith(`${root}/`) || path.startsWith(`${root}\\`) ? path.slice(root.length + 1) : null;
  if (relative === null) return { path: cwd, place: 'outside', bound };
  return relative.split(/[/\\]/).includes('..')
    ? { path: cwd, place: 'outside', bound }
    : { path: relative, place: 'inside', bound };
}

function fileShape(changes: readonly FileChange[]): PromptShape {
  const title = t('prompt.title.file', { count: changes.length });
  if (changes.length === 0) return unshowable('file_change', t('prompt.title.file_none'), 'no_change');
  if (
    changes.some((change) => change.path === '' || (change.diff.trim() === '' && change.kind !== 'delete'))
  ) {
    return unshowable('file_change', title, 'no_diff');
  }
  const files = changes.map((change) => ({
    path: change.path,
    kind: change.kind,
    inside: change.inside_workspace,
    diff: parseDiff(change.diff),
  }));
  const hidden = hiddenCharacters(changes.map((change) => `${change.path}\n${change.diff}`).join('\n'));
  const place: Place | null = files.some((file) => file.inside === false)
    ? 'some_outside'
    : files.every((file) => file.inside === true)
      ? 'all_inside'
      : null;
  const warnings: PromptWarning[] = [];
  if (hidden.count > 0) warnings.push('hidden');
  if (place === 'some_outside') warnings.push('outside');
  return {
    kind: 'file_change',
    title,
    files,
    added: files.reduce((sum, file) => sum + file.diff.added, 0),
    removed: files.reduce((sum, file) => sum + file.diff.removed, 0),
    place,
    hidden,
    warnings,
    folded: true,
  };
}

function toolShape(name: string, server: string | null, input: unknown): PromptShape {
  const shown = showHidden(name);
  const title = t('prompt.title.tool', { name: shown.length > 60 ? `${shown.slice(0, 59)}…` : shown });
  if (input === undefined || input === null || name.trim() === '')
    return unshowable('tool', title, 'no_input');
  const rows = inputRows(input);
  const hidden = hiddenCharacters(
    `${name}\n${server ?? ''}\n${rows.map((row) => `${row.label}\n${row.value ?? ''}`).join('\n')}`,
  );
  const warnings: PromptWarning[] = hidden.count > 0 ? ['hidden'] : [];
  return {
    kind: 'tool',
    title,
    name,
    server,
    rows,
    hidden,
    warnings,
    folded: warnings.length > 0 || !fits(rows.flatMap((row) => (row.value ?? '').split('\n'))),
  };
}

function networkShape(host: string, port: number | null, protocol: string | null): PromptShape {
  if (host.trim() === '') return unshowable('network', t('prompt.title.network'), 'no_host');
  const name = hostName(host);
  const hidden = hiddenCharacters(host);
  const warnings: PromptWarning[] = [];
  if (hidden.count > 0) warnings.push('hidden');
  if (name.foreign.length > 0) warnings.push('lookalike');
  return {
    kind: 'network',
    title: t('prompt.title.network'),
    host: name,
    port,
    protocol,
    hidden,
    warnings,
    folded: warnings.length > 0 || !fits([host]),
  };
}
