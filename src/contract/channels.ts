import * as z from 'zod';
import { commandErrorSchema } from './commands.ts';
import { viewSchema } from './view.ts';

/** What tray, notification, menu or a deep link asks the window to show. Never a decision. */
export const showSchema = z.discriminatedUnion('screen', [
  z.object({ screen: z.literal('home') }),
  z.object({ screen: z.literal('prompt'), id: z.string() }),
  z.object({ screen: z.literal('turn'), run_id: z.string() }),
  z.object({ screen: z.literal('settings') }),
  z.object({ screen: z.literal('enrol') }),
]);
export type Show = z.infer<typeof showSchema>;

/** What the daemon answers on the line protocol of `pipe-request.ts`. */
export const pipeReplySchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('answer'), id: z.number().int(), answer: z.unknown() }),
  z.object({ type: z.literal('error'), id: z.number().int(), error: commandErrorSchema }),
  z.object({ type: z.literal('view'), view: viewSchema }),
]);
export type PipeReply = z.infer<typeof pipeReplySchema>;
