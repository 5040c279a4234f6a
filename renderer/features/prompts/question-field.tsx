import { useId, useState, type ReactElement, type Ref } from 'react';
import type { Question } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { isSecret, pick, pickOther, takesText, typeOther, type Choice } from '../../select/answers.ts';
import { Icon } from '../../ui/icon.tsx';
import { VisibleText } from '../../ui/visible-text.tsx';

export interface QuestionFieldProps {
  /** Unique in the document; options of one question share it. */
  readonly name: string;
  readonly question: Question;
  readonly choice: Choice;
  readonly locked: boolean;
  readonly onChoice: (choice: Choice) => void;
  readonly secretRef: Ref<HTMLInputElement>;
  /** Whether the secret's field holds anything; never what. */
  readonly onSecret: (filled: boolean) => void;
}

const hint = (question: Question): string => {
  if (isSecret(question)) return t('question.secret');
  if (question.options.length === 0) return t('question.free');
  return question.multi_select === true ? t('question.many') : t('question.one');
};

/** Options short enough to stand two in a row. */
const isShort = (question: Question): boolean =>
  question.options.length > 2 &&
  question.options.every((option) => option.label.length <= 28 && option.description === undefined);

/** One question: single, multiple, own text or secret. Options wrap and are never cut. */
export function QuestionField({
  name,
  question,
  choice,
  locked,
  onChoice,
  secretRef,
  onSecret,
}: QuestionFieldProps): ReactElement {
  const many = question.multi_select === true;
  const sub = useId();
  return (
    <div className="q">
      <fieldset aria-describedby={sub} disabled={locked}>
        <legend>
          <VisibleText text={question.question} />
        </legend>
        <p className="sub" id={sub}>
          {question.header === undefined || question.header === '' ? null : (
            <>
              <VisibleText text={question.header} /> ·{' '}
            </>
          )}
          {hint(question)}
        </p>
        <div className={isShort(question) ? 'opts two' : 'opts'} hidden={question.options.length === 0}>
          {question.options.map((option) => (
            <label key={option.label} className="opt">
              <input
                type={many ? 'checkbox' : 'radio'}
                name={name}
                checked={choice.chosen.includes(option.label)}
                onChange={(event) => onChoice(pick(question, choice, option.label, event.target.checked))}
              />
              <span>
                <b>
                  <VisibleText text={option.label} />
                </b>
                {option.description === undefined || option.description === '' ? null : (
                  <small>
                    <VisibleText text={option.description} />
                  </small>
                )}
              </span>
            </label>
          ))}
          {takesText(question) && !isSecret(question) && question.options.length > 0 ? (
            <label className="opt wide">
              <input
                type={many ? 'checkbox' : 'radio'}
                name={name}
                checked={choice.otherChosen}
                onChange={(event) => onChoice(pickOther(question, choice, event.target.checked))}
              />
              <span className="grow">
                <b>{t('question.other')}</b>
                <input
                  className="input own"
                  aria-label={t('question.own')}
                  placeholder={t('question.own')}
                  value={choice.other}
                  onChange={(event) => onChoice(typeOther(question, choice, event.target.value))}
                />
              </span>
            </label>
          ) : null}
        </div>
        {question.options.length === 0 && !isSecret(question) ? (
          <textarea
            rows={2}
            aria-label={question.question}
            placeholder={t('question.own')}
            value={choice.other}
            onChange={(event) => onChoice(typeOther(question, choice, event.target.value))}
          />
        ) : null}
        {isSecret(question) ? (
          <SecretField label={question.question} fieldRef={secretRef} onSecret={onSecret} />
        ) : null}
      </fieldset>
    </div>
  );
}

/** The text stays in the field: it is in no state, no draft and no attribute. */
function SecretField({
  label,
  fieldRef,
  onSecret,
}: {
  readonly label: string;
  readonly fieldRef: Ref<HTMLInputElement>;
  readonly onSecret: (filled: boolean) => void;
}): ReactElement {
  const [shown, setShown] = useState(false);
  return (
    <div className="row secret">
      <input
        ref={fieldRef}
        className="input"
        type={shown ? 'text' : 'password'}
        autoComplete="off"
        spellCheck={false}
        aria-label={label}
        onChange={(event) => onSecret(event.target.value !== '')}
      />
      <button
        type="button"
        className="btn icon eye"
        aria-label={t('question.show')}
        title={t('question.show')}
        aria-pressed={shown}
        onClick={() => setShown(!shown)}
      >
        <Icon name="eye" />
      </button>
    </div>
  );
}
