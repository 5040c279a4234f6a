import { isBindingName, type EnrolmentView } from '../../src/contract/enrolment.ts';
import { t, type TextKey } from '../i18n/t.ts';
import { said } from '../i18n/said.ts';
import { mark, type Mark } from './mark.ts';

/** One finding about the folder: what is well, what to know, what stops it. */
export interface FolderCheck {
  readonly mark: Mark;
  readonly label: string;
  readonly strong: string | null;
  readonly text: string;
}

const well = (text: string): FolderCheck => ({
  mark: mark('tick', 'ok'),
  label: t('enrol.folder.well'),
  strong: null,
  text,
});
const look = (strong: string | null, text: string): FolderCheck => ({
  mark: mark('bang', 'warn'),
  label: t('doctor.warning'),
  strong,
  text,
});

export function folderChecks(folder: EnrolmentView['folder']): readonly FolderCheck[] {
  if (folder === null) return [];
  if (folder.refusal !== null) {
    return [{ mark: mark('xx', 'bad'), label: t('doctor.error'), strong: said(folder.refusal), text: '' }];
  }
  const link =
    folder.path === folder.asked ? [] : [look(null, t('enrol.folder.link', { path: folder.path }))];
  return [
    ...link,
    spaceCheck(folder),
    well(t('enrol.folder.apart')),
    ...folder.overlaps.map(({ binding, how }) =>
      look(t(`enrol.folder.${how}`, { binding }), t('enrol.folder.shared')),
    ),
  ];
}

function spaceCheck(folder: NonNullable<EnrolmentView['folder']>): FolderCheck {
  if (!folder.writable)
    return look(folder.exists ? t('enrol.folder.read_only') : t('enrol.folder.not_made'), '');
  const free = folder.free_bytes === null ? null : gigabytes(folder.free_bytes);
  const [plain, withSpace] = folder.exists
    ? (['enrol.folder.writable_plain', 'enrol.folder.writable'] as const)
    : (['enrol.folder.made_plain', 'enrol.folder.made'] as const);
  return well(free === null ? t(plain) : t(withSpace, { free }));
}

const gigabytes = (bytes: number): string =>
  bytes >= 1e9 ? `${Math.floor(bytes / 1e9)} GB` : `${Math.floor(bytes / 1e6)} MB`;

export interface ProgressRow {
  readonly key: string;
  readonly mark: Mark;
  readonly text: string;
  readonly state: string;
}

const steps = {
  grant: ['folder', 'store', 'claim', 'enroll', 'receipt'],
  credential: ['folder', 'enroll', 'store', 'receipt'],
} as const;

/** How far the binding is: solid is done, half is under way, outline is not yet. Null before it was confirmed. */
export function progressRows(enrolment: EnrolmentView): readonly ProgressRow[] | null {
  const { state, step, way } = enrolment;
  if (state === 'review') return null;
  const order: readonly string[] = steps[way];
  const at = step === null ? order.length : order.indexOf(step);
  const rows = order.map((name, place): ProgressRow => {
    const text = t(rowTexts[name] ?? 'enrol.work.folder');
    if (place < at) return row(name, text, 'done');
    if (place > at) return row(name, text, 'not');
    return row(name, text, state === 'failed' ? 'failed' : 'now');
  });
  if (state === 'failed') return rows;
  if (state === 'bound' && enrolment.connected === null) return rows;
  const seen =
    state === 'bound'
      ? enrolment.connected === true
        ? 'done'
        : 'not'
      : state === 'connecting'
        ? 'now'
        : 'not';
  const text =
    state === 'bound' && enrolment.connected === false ? 'enrol.work.connect_not' : 'enrol.work.connect';
  return [...rows, row('connect', t(text), seen)];
}

const rowTexts: Readonly<Record<string, TextKey>> = {
  folder: 'enrol.work.folder',
  store: 'enrol.work.store',
  claim: 'enrol.work.claim',
  enroll: 'enrol.work.enroll',
  receipt: 'enrol.work.receipt',
};
const rowMarks = {
  done: mark('tick', 'ok'),
  now: mark('half', 'run'),
  not: mark('ring'),
  failed: mark('xx', 'bad'),
} as const;
const row = (key: string, text: string, state: keyof typeof rowMarks): ProgressRow => ({
  key,
  text,
  mark: rowMarks[state],
  state: t(`enrol.work.row_${state}`),
});

/** Why it cannot be bound now; null when it can. */
export function blockedBind(enrolment: EnrolmentView, name: string): string | null {
  if (enrolment.state === 'working' || enrolment.state === 'connecting') return t('enrol.act.binding');
  if (enrolment.folder === null) return t('enrol.act.no_folder');
  if (enrolment.folder.refusal !== null) return said(enrolment.folder.refusal);
  if (!isBindingName(name)) return t('enrol.check.name_wrong');
  return enrolment.credential_store === null ? t('enrol.act.no_store') : null;
}
