import { createHash } from 'node:crypto';

/**
 * Identity of a request, a configuration or a decision: SHA-256 over an encoding in which key order and members that
 * were left out or given their default cannot make a difference (runtime-behaviour 2.4 Ours).
 */
export function fingerprint(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex');
}

/** The same, computed when it is first asked for: most of what arrives has nothing to be compared with. */
export function lazyFingerprint(value: () => unknown): () => string {
  let known: string | null = null;
  return () => (known ??= fingerprint(value()));
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(
        ([, member]) =>
          member !== undefined && member !== null && member !== false && member !== '' && member !== 0,
      )
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
