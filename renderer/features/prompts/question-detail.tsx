import { useEffect, useRef, useState, type ReactElement } from 'react';
import { t } from '../../i18n/t.ts';
import { pressed, shortcuts } from '../../keys.ts';
import { answeredCount, givenAnswers, noChoice, type Choice } from '../../select/answers.ts';
import { bindingOf } from '../../select/prompt-queue.ts';
import { promptShape } from '../../select/prompt-shape.ts';
import { useDesk, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { useHeading } from '../shell/go.tsx';
import type { DetailProps } from './permission-detail.tsx';
import { ActionNote } from './prompt-actions.tsx';
import { PromptHead } from './prompt-head.tsx';
import { QuestionField } from './question-field.tsx';
import { usePrompt } from './use-prompt.ts';

/** Questions of the agent. What was chosen is kept while one looks elsewhere; a secret lives in its field alone. */
export function QuestionDetail({ interaction, onLater, onNeighbour }: DetailProps): ReactElement {
  const { link, desk } = useServices();
  useDesk();
  const shape = promptShape(interaction, bindingOf(useView(), interaction.binding));
  const prompt = usePrompt(interaction);
  const heading = useHeading();
  const secrets = useRef(new Map<string, HTMLInputElement>());
  const [filled, setFilled] = useState<readonly string[]>([]);
  const { questions, id } = interaction;

  const drafts = desk.drafts(id);
  const choiceOf = (question: string): Choice => drafts[question] ?? noChoice;
  const answered = answeredCount({
    questions,
    choiceOf,
    secretFilled: (question) => filled.includes(question),
  });
  const blocked = prompt.blocked('answers') ?? (answered === 0 ? t('question.none') : null);
  const clearSecrets = (): void => {
    for (const field of secrets.current.values()) field.value = '';
    setFilled([]);
  };
  // A secret must not outlive its card, not even in a field that is being taken away.
  useEffect(() => {
    const fields = secrets.current;
    return () => {
      for (const field of fields.values()) field.value = '';
    };
  }, [id]);

  const send = (via: 'click' | 'key'): void => {
    if (blocked !== null) return;
    const answers = givenAnswers({
      questions,
      choiceOf,
      secretOf: (question) => secrets.current.get(question)?.value ?? '',
    });
    if (prompt.answer({ kind: 'answers', answers }, via) === null) clearSecrets();
  };

  const onKey = (event: React.KeyboardEvent): void => {
    if (event.repeat || event.nativeEvent.isComposing) return;
    const is = (name: keyof typeof shortcuts): boolean => pressed(event, shortcuts[name], link.platform);
    const run = (work: () => void): void => {
      event.preventDefault();
      work();
    };
    if (is('later')) return run(onLater);
    if (is('previousPrompt')) return run(() => onNeighbour(-1));
    if (is('nextPrompt')) return run(() => onNeighbour(1));
    if (is('send')) return run(() => send('key'));
  };

  return (
    <form
      className="detail"
      aria-labelledby="prompt-title"
      data-prompt={id}
      autoComplete="off"
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={onKey}
      {...prompt.focusProps}
    >
      <div className="detail-body" tabIndex={0}>
        <PromptHead interaction={interaction} shape={shape} heading={heading} />
        <div>
          {questions.map((question) => (
            <QuestionField
              key={question.id}
              name={`${id}:${question.id}`}
              question={question}
              choice={choiceOf(question.id)}
              locked={prompt.locked}
              onChoice={(choice) => desk.draft(id, question.id, choice)}
              secretRef={(element) => {
                if (element === null) secrets.current.delete(question.id);
                else secrets.current.set(question.id, element);
              }}
              onSecret={(has) =>
                setFilled((old) =>
                  has
                    ? [...old.filter((other) => other !== question.id), question.id]
                    : old.filter((other) => other !== question.id),
                )
              }
            />
          ))}
        </div>
      </div>
      <div className="detail-foot">
        <ActionNote prompt={prompt} unread="" unshowable />
        <div className="actions">
          <Button kind="choice" shortcut={shortcuts.send} blocked={blocked} onPress={() => send('click')}>
            {t('question.send')}
          </Button>
          <Button
            kind="half"
            blocked={prompt.blocked('cancel')}
            onPress={() => prompt.answer({ kind: 'cancel' }, 'click')}
          >
            {t('question.decline')}
          </Button>
          <span className="faint small">{t('question.answered', { answered, count: questions.length })}</span>
          <Button kind="ghost half end" shortcut={shortcuts.later} onPress={onLater}>
            {t('prompt.later')}
          </Button>
        </div>
      </div>
    </form>
  );
}
