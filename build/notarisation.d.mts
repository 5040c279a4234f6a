/**
 * Whether a macOS package is sent to Apple's notary: true with one complete set of credentials in `env`, false without
 * any. Throws for an incomplete set, with the names of what is missing.
 */
export function notarisation(env: Readonly<Record<string, string | undefined>>): boolean;
