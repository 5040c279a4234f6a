/**
 * What a rule found wrong. `path` leads from the payload to the member, `code` is the finite wire code a Runtime
 * answers with where there is one. It never holds a submitted value.
 */
export interface Violation {
  readonly path: readonly (string | number)[];
  readonly code?: string;
}

export const violation = (path: readonly (string | number)[], code?: string): Violation =>
  code === undefined ? { path } : { path, code };
