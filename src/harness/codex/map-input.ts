import { parseInlineImage, type MessageInput } from '../../protocol/message-input.ts';

export type NativeInput =
  | { readonly type: 'text'; readonly text: string; readonly text_elements: readonly [] }
  | { readonly type: 'image'; readonly url: string };

export type MappedInput =
  | { readonly kind: 'input'; readonly input: readonly NativeInput[] }
  /** For a person; names no content. */
  | { readonly kind: 'refused'; readonly message: string };

/**
 * One native input: a part for each part, in order. Messages are kept apart by a text of two newlines, since Codex
 * knows no boundary between them (input-and-tools 1).
 */
export function mapInput(messages: MessageInput): MappedInput {
  const input: NativeInput[] = [];
  for (const [index, message] of messages.entries()) {
    if (index > 0) input.push(text('\n\n'));
    for (const part of message.content) {
      if (part.type === 'input_text') {
        if (part.text !== '') input.push(text(part.text));
      } else if (parseInlineImage(part.image_url)) input.push({ type: 'image', url: part.image_url });
      else return { kind: 'refused', message: 'Codex takes images as inline PNG or JPEG data only.' };
    }
  }
  return { kind: 'input', input };
}

export const text = (value: string): NativeInput => ({ type: 'text', text: value, text_elements: [] });
