import * as z from 'zod';

/**
 * The line protocol of the control endpoint (Unix socket or named pipe) and of the browser console's WebSocket:
 * one JSON object a line or message.
 */
export const pipeRequestSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('call'), id: z.number().int(), name: z.string(), request: z.unknown() }),
  z.strictObject({ type: z.literal('subscribe') }),
]);
export type PipeRequest = z.infer<typeof pipeRequestSchema>;
