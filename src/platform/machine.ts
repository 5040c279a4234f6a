import { arch, platform, release } from 'node:os';

/** What runs this program. Nothing that names a person or a machine. */
export interface MachineFacts {
  readonly os: string;
  readonly os_release: string;
  readonly arch: string;
  readonly node: string;
  /** Null under plain Node. */
  readonly electron: string | null;
}

export const machineFacts = (): MachineFacts => ({
  os: platform(),
  os_release: release(),
  arch: arch(),
  node: process.versions.node,
  electron: process.versions['electron'] ?? null,
});
