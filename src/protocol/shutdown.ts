import * as z from 'zod';

import { optional, text } from './presence.ts';

/** `device_shutdown` (wire 16), Core to Runtime, no id, body optional and never a reason to ignore the frame. */
export const deviceShutdownPayload = z.strictObject({ reason: optional(text) });
export type DeviceShutdownPayload = z.output<typeof deviceShutdownPayload>;
