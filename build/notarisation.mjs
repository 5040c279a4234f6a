/** Complete sets of credentials for Apple's notary, as electron-builder reads them from the environment. */
const sets = [
  ['APPLE_API_KEY', 'APPLE_API_KEY_ID', 'APPLE_API_ISSUER'],
  ['APPLE_ID', 'APPLE_APP_SPECIFIC_PASSWORD', 'APPLE_TEAM_ID'],
  ['APPLE_KEYCHAIN', 'APPLE_KEYCHAIN_PROFILE'],
];

/**
 * Whether a macOS package is sent to Apple's notary: with one complete set, not without any. A set that is incomplete
 * throws and names what is missing, because a release that was meant to be notarised would else go out without it.
 * Names are told, never values.
 */
export function notarisation(env) {
  const given = (name) => (env[name] ?? '') !== '';
  for (const set of sets) {
    const missing = set.filter((name) => !given(name));
    if (missing.length > 0 && missing.length < set.length)
      throw new Error(
        `Notarisation needs ${missing.join(' and ')} beside ${set.filter(given).join(' and ')}. Set what is missing, or none of ${set.join(', ')}.`,
      );
  }
  return sets.some((set) => set.every(given));
}
