/**
 * What closing a native resource proved. `unconfirmed` keeps the owner: the resource still counts against
 * capacity, is shown as cleanup and may be closed again. A close never throws and never forgets.
 */
export type CloseResult =
  { readonly state: 'closed' } | { readonly state: 'unconfirmed'; readonly reason: string };

export const closed: CloseResult = { state: 'closed' };
export const unconfirmed = (reason: string): CloseResult => ({ state: 'unconfirmed', reason });
