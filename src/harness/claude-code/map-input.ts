import type { Random } from '../../platform/random.ts';
import { parseInlineImage, type MessageInput } from '../../protocol/message-input.ts';

/** Messages of the person in one Turn, the opening ones included; more are refused before anything is written. */
export const MESSAGES_PER_TURN = 64;

export interface NativeUserMessage {
  readonly type: 'user';
  readonly uuid: string;
  readonly parent_tool_use_id: null;
  readonly message: { readonly role: 'user'; readonly content: readonly NativeInputBlock[] };
  /** False: read it, but wait for the next message before asking the model. */
  readonly shouldQuery?: false;
}
type NativeInputBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image';
      readonly source: { readonly type: 'base64'; readonly media_type: string; readonly data: string };
    };

export type MappedInput =
  | { readonly kind: 'messages'; readonly messages: readonly NativeUserMessage[] }
  /** For a person; names no content. */
  | { readonly kind: 'refused'; readonly message: string };

/**
 * One native message for each message of the input, parts in order. `opening`: nothing runs yet, so all but the last
 * only join the conversation and the model is asked once; while a Turn runs the program folds them in by itself.
 * Text that only has white space cannot be delivered to the model and is refused, never altered.
 */
export function mapInput(input: MessageInput, random: Random, opening: boolean): MappedInput {
  const messages: NativeUserMessage[] = [];
  for (const [index, message] of input.entries()) {
    const content: NativeInputBlock[] = [];
    for (const part of message.content) {
      if (part.type === 'input_image') {
        const image = parseInlineImage(part.image_url);
        if (!image) return refused('Claude Code takes images as inline PNG or JPEG data only.');
        content.push({
          type: 'image',
          source: { type: 'base64', media_type: image.mediaType, data: image.data },
        });
      } else if (part.text !== '') content.push({ type: 'text', text: part.text });
    }
    if (content.every((block) => block.type === 'text' && isWhiteSpace(block.text))) {
      return refused('Claude Code cannot take a message without text. Write something and send it again.');
    }
    messages.push({
      type: 'user',
      uuid: random.uuid(),
      parent_tool_use_id: null,
      message: { role: 'user', content },
      ...(opening && index < input.length - 1 ? { shouldQuery: false } : {}),
    });
  }
  return { kind: 'messages', messages };
}

const refused = (message: string): MappedInput => ({ kind: 'refused', message });

/** White space of Unicode and of ECMAScript both, U+0085 and U+FEFF included. */
const isWhiteSpace = (text: string): boolean => /^[\s\u0085\uFEFF]*$/u.test(text);
