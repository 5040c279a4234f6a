import type { InteractionView } from '../contract/view.ts';
import type { NativeSubject } from '../harness/adapter.ts';
import type { RuntimeFact } from '../runtime/facts.ts';
import { coverageOf } from '../runtime/rule-book.ts';

/** What front ends see of a prompt when it opens; `now` in Unix milliseconds. */
export function interactionView(
  binding: string,
  harness: string,
  fact: Extract<RuntimeFact, { type: 'interaction_opened' }>,
  now: number,
): InteractionView {
  const { request } = fact;
  const permission = request.kind === 'permission' ? request.native : null;
  return {
    id: fact.id,
    kind: request.kind,
    binding,
    run_id: fact.runId,
    harness,
    title:
      permission?.title ??
      questionTitle(request.kind === 'user_choice' ? request.native.questions.length : 0),
    tool: permission?.tool ?? null,
    detail: permission ? detailOf(permission.subject) : null,
    subject: permission ? subjectOf(permission.subject) : { kind: 'question' },
    reason: permission?.reason ?? null,
    questions:
      request.kind === 'user_choice'
        ? request.native.questions.map((question) => withoutUndefined(question))
        : [],
    since: new Date(now).toISOString(),
    expires_at: fact.expiresInMs === null ? null : new Date(now + fact.expiresInMs).toISOString(),
    state: 'pending',
    answerable: fact.answerable,
    rule: permission ? coverageOf(permission) : null,
    editable: permission?.editable ?? null,
  };
}

const questionTitle = (count: number): string =>
  count === 1 ? 'Answer a question' : `Answer ${count} questions`;

function detailOf(subject: NativeSubject): string | null {
  switch (subject.kind) {
    case 'command':
      return subject.command;
    case 'file_change':
      return subject.changes.map((change) => `${change.kind} ${change.path}`).join('\n');
    case 'network':
      return subject.port === null ? subject.host : `${subject.host}:${subject.port}`;
    case 'tool':
      return JSON.stringify(subject.input) ?? null;
  }
}

function subjectOf(subject: NativeSubject): InteractionView['subject'] {
  if (subject.kind !== 'file_change') return subject;
  return {
    kind: 'file_change',
    changes: subject.changes.map(({ path, kind, diff, insideWorkspace }) => ({
      path,
      kind,
      diff,
      inside_workspace: insideWorkspace ?? null,
    })),
  };
}

function withoutUndefined(question: {
  id: string;
  header?: string | undefined;
  question: string;
  multi_select?: boolean | undefined;
  is_other?: boolean | undefined;
  is_secret?: boolean | undefined;
  options: { label: string; description?: string | undefined }[];
}): InteractionView['questions'][number] {
  return {
    id: question.id,
    question: question.question,
    ...(question.header === undefined ? {} : { header: question.header }),
    ...(question.multi_select === undefined ? {} : { multi_select: question.multi_select }),
    ...(question.is_other === undefined ? {} : { is_other: question.is_other }),
    ...(question.is_secret === undefined ? {} : { is_secret: question.is_secret }),
    options: question.options.map((option) => ({
      label: option.label,
      ...(option.description === undefined ? {} : { description: option.description }),
    })),
  };
}
