import { parseInlineImage, type MessageInput } from '../../protocol/message-input.ts';

export type MappedPrompt =
  | { readonly kind: 'prompt'; readonly prompt: readonly Record<string, unknown>[] }
  | { readonly kind: 'refused'; readonly message: string };

/** Our messages as one prompt: the protocol has no boundary between them, so a blank line stands for it. */
export function mapPrompt(input: MessageInput, images: boolean): MappedPrompt {
  const prompt: Record<string, unknown>[] = [];
  for (const [index, message] of input.entries()) {
    if (index > 0) prompt.push({ type: 'text', text: '\n\n' });
    for (const part of message.content) {
      if (part.type === 'input_text') {
        if (part.text !== '') prompt.push({ type: 'text', text: part.text });
        continue;
      }
      const image = images ? parseInlineImage(part.image_url) : undefined;
      if (!image) {
        const why = images ? 'takes images as inline PNG or JPEG data only' : 'takes no images';
        return { kind: 'refused', message: `This agent ${why}.` };
      }
      prompt.push({ type: 'image', data: image.data, mimeType: image.mediaType });
    }
  }
  return { kind: 'prompt', prompt };
}
