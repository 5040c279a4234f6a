import * as z from 'zod';

import { isAbsoluteLocalPath } from './ids.ts';
import { CAPABILITY_SOURCE_ITEMS, SKILL_NAME_BYTES } from './limits.ts';
import { expected, list, optional, text } from './presence.ts';
import { hasLoneSurrogate, utf8Length } from './utf8.ts';
import { violation, type Violation } from './violation.ts';

/** Installed selection of Skills, Plugins and capability directories (wire 4.10). List order is significant. */
export const sourceMetadata = z.strictObject({
  /** `inline`. */
  type: expected(text),
  name: expected(text),
  description: expected(text),
});
export type SourceMetadata = z.output<typeof sourceMetadata>;

export const capabilitySources = z.strictObject({
  skills: optional(list(sourceMetadata)),
  plugins: optional(list(sourceMetadata)),
  directories: optional(list(text)),
});
export type CapabilitySources = z.output<typeof capabilitySources>;

export function sourceMetadataViolation(metadata: SourceMetadata): Violation | undefined {
  if (metadata.type !== 'inline') return violation(['type']);
  if (metadata.name === '' || hasLoneSurrogate(metadata.name)) return violation(['name']);
  if (metadata.description === '' || hasLoneSurrogate(metadata.description))
    return violation(['description']);
  return undefined;
}

const SKILL_NAME = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/;
/** The name rule of a Skill archive. */
export const isSkillName = (name: string): boolean =>
  SKILL_NAME.test(name) && utf8Length(name) <= SKILL_NAME_BYTES;

export function capabilitySourcesViolation(sources: CapabilitySources): Violation | undefined {
  for (const member of ['skills', 'plugins'] as const) {
    const items = sources[member] ?? [];
    if (items.length > CAPABILITY_SOURCE_ITEMS) return violation([member]);
    for (const [index, item] of items.entries()) {
      const found = sourceMetadataViolation(item);
      if (found) return violation([member, index, ...found.path]);
    }
  }
  const directories = sources.directories ?? [];
  if (directories.length > CAPABILITY_SOURCE_ITEMS) return violation(['directories']);
  if (new Set(directories).size !== directories.length) return violation(['directories']);
  const wrong = directories.findIndex((directory) => !isAbsoluteLocalPath(directory));
  return wrong < 0 ? undefined : violation(['directories', wrong]);
}
