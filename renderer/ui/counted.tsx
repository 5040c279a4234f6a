import type { ReactElement } from 'react';
import { useNow } from '../services.ts';
import { at, counted } from '../select/time-words.ts';

/** 4:12 and counting, since an ISO 8601 time. */
export function Since({ time }: { readonly time: string }): ReactElement {
  const now = useNow();
  return <span className="tnum">{counted(now - at(time))}</span>;
}
