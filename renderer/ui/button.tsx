import { useId, type ReactElement, type ReactNode } from 'react';
import { ariaShortcut, caps, shortcutText, type Shortcut } from '../keys.ts';
import { useServices } from '../services.ts';

export interface ButtonProps {
  readonly children: ReactNode;
  readonly onPress: () => void;
  /** Class names beside `btn`: `sm`, `ghost`, `primary`, `choice`, `half`, `danger`, `icon`, `end`. */
  readonly kind?: string;
  readonly shortcut?: Shortcut;
  /** Its name and tooltip: for a button without words, or one among many with the same words, which it then holds. */
  readonly label?: string;
  /** Why it cannot be pressed now. The button stays reachable and explains itself. */
  readonly blocked?: string | null;
  readonly pressed?: boolean;
  readonly expanded?: boolean;
  readonly autoFocus?: boolean;
}

/** A button that never submits a form and acts only when it is itself pressed. */
export function Button({
  children,
  onPress,
  kind = '',
  shortcut,
  label,
  blocked = null,
  pressed,
  expanded,
  autoFocus,
}: ButtonProps): ReactElement {
  const { link } = useServices();
  const why = useId();
  const words = [label, shortcut === undefined ? null : shortcutText(shortcut, link.platform)]
    .filter((part) => part !== null && part !== undefined)
    .join('  ');
  return (
    <>
      <button
        type="button"
        className={`btn ${kind}`.trim()}
        onClick={() => {
          if (blocked === null) onPress();
        }}
        {...(words === '' ? {} : { title: words })}
        {...(label === undefined ? {} : { 'aria-label': label })}
        {...(shortcut === undefined ? {} : { 'aria-keyshortcuts': ariaShortcut(shortcut, link.platform) })}
        {...(blocked === null ? {} : { 'aria-disabled': true, 'aria-describedby': why })}
        {...(pressed === undefined ? {} : { 'aria-pressed': pressed })}
        {...(expanded === undefined ? {} : { 'aria-expanded': expanded })}
        {...(autoFocus === true ? { autoFocus: true } : {})}
      >
        {children}
      </button>
      {blocked === null ? null : (
        <span id={why} className="sr">
          {blocked}
        </span>
      )}
    </>
  );
}

/** Key caps, as in the composer. */
export function Caps({ shortcut }: { readonly shortcut: Shortcut }): ReactElement {
  const { link } = useServices();
  return (
    <span className="caps" aria-hidden>
      {caps(shortcut, link.platform).map((cap) => (
        <kbd key={cap}>{cap}</kbd>
      ))}
    </span>
  );
}
