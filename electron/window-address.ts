import type { Show } from '../src/contract/channels.ts';

/** The part of the page's address that opens the window at a place, as `renderer/router.ts` reads it. */
export function placeInAddress(what: Show): string {
  switch (what.screen) {
    case 'home':
      return '#/';
    case 'prompt':
      return `#/prompt/${encodeURIComponent(what.id)}`;
    case 'turn':
      return `#/turns/${encodeURIComponent(what.run_id)}`;
    case 'settings':
      return '#/settings/bindings';
    case 'enrol':
      return '#/enrol';
  }
}
