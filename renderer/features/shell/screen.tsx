import type { ReactElement, ReactNode } from 'react';
import { WindowBanner } from './window-banner.tsx';

export interface ScreenProps {
  /** What stands in the bar; Home has none. */
  readonly bar?: ReactNode;
  /** The content brings its own scroll areas. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}

/** Bar, banner, content: the frame of every screen. */
export function Screen({ bar, flush = false, children }: ScreenProps): ReactElement {
  return (
    <>
      {bar === undefined ? null : <header className="bar">{bar}</header>}
      <WindowBanner />
      {flush ? (
        <div className="scroll flush">{children}</div>
      ) : (
        <div className="scroll" tabIndex={0}>
          {children}
        </div>
      )}
    </>
  );
}
