/** Builds dist/ whole. */
export function buildAll(options?: { dev?: boolean }): Promise<void>;
/** Builds when dist/ is missing or older than the sources; true when it did. */
export function ensureBuilt(): Promise<boolean>;
/** Changes when anything that is built from changes. */
export function sourceStamp(): Promise<string>;
