import { useEffect, useRef, type ReactElement, type ReactNode, type RefObject } from 'react';
import { href, type Route } from '../../router.ts';
import { useRoute, useServices } from '../../services.ts';

export interface GoProps {
  readonly to: Route;
  readonly children: ReactNode;
  readonly className?: string;
  readonly title?: string;
  readonly label?: string;
  readonly current?: boolean;
}

/** A link to a screen. Following it puts the focus on the head of that screen. */
export function Go({ to, children, className, title, label, current }: GoProps): ReactElement {
  const { router } = useServices();
  return (
    <a
      href={href(to)}
      className={className}
      title={title}
      aria-label={label}
      aria-current={current === true ? 'page' : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        router.go(to, 'heading');
      }}
    >
      {children}
    </a>
  );
}

/** For the head of a screen: takes the focus when the person came here on purpose, never by itself. */
export function useHeading(): RefObject<HTMLHeadingElement | null> {
  const { router } = useServices();
  const route = useRoute();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (router.takeWish(route)) heading.current?.focus({ preventScroll: true });
  }, [router, route]);
  return heading;
}
