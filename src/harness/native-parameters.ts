import { isJsonObject } from '../protocol/presence.ts';

/** Whether `harness_config` asks for nothing: absent and `{}` are the same. */
export const emptyConfig = (config: unknown): boolean =>
  config === undefined || (isJsonObject(config) && Object.keys(config).length === 0);
