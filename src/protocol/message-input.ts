import * as z from 'zod';

import { decodeBase64 } from './base64.ts';
import { isBlank } from './ids.ts';
import { expected, given, list, plainList, text, where } from './presence.ts';
import { violation, type Violation } from './violation.ts';

/**
 * Ordered input of a Turn (wire 4.1): messages of text and image parts, carried unchanged and in order. No other
 * part type exists.
 */
export type InputContent = { type: 'input_text'; text: string } | { type: 'input_image'; image_url: string };

/** One part. A member that belongs to the other type is refused; the text may be empty. */
export const inputContent = z
  .strictObject({ type: expected(text), text: given(text), image_url: given(text) })
  .transform((part, context): InputContent => {
    if (part.type === 'input_text' && part.text !== undefined && part.image_url === undefined)
      return { type: 'input_text', text: part.text };
    if (part.type === 'input_image' && part.image_url !== undefined && part.text === undefined)
      return { type: 'input_image', image_url: part.image_url };
    context.addIssue({ code: 'custom', message: 'not a text or image part' });
    return z.NEVER;
  });

export const inputMessage = z.strictObject({ content: expected(plainList(inputContent)) });
export type InputMessage = z.output<typeof inputMessage>;
export type MessageInput = InputMessage[];

/** Messages as they decode; the rules of a valid input are `isMessageInput`, asked where the family says. */
export const inputMessages = list(inputMessage);

/** A non-empty input that a receiver enforces: `messageInputViolation` finds nothing. */
export const messageInput = where(inputMessages, (input) => messageInputViolation(input) === undefined);

/**
 * Why `input` is not a valid MessageInput: no message, an image with a blank address, or a message with neither an
 * image nor text of at least one character. White space is text: whether a Harness can run it is the Harness's word.
 */
export function messageInputViolation(input: readonly InputMessage[]): Violation | undefined {
  if (input.length === 0) return violation([]);
  for (const [index, message] of input.entries()) {
    for (const [part, content] of message.content.entries())
      if (content.type === 'input_image' && isBlank(content.image_url))
        return violation([index, 'content', part, 'image_url']);
    const meaningful = message.content.some(
      (content) => content.type === 'input_image' || content.text !== '',
    );
    if (!meaningful) return violation([index, 'content']);
  }
  return undefined;
}

export const hasImages = (input: readonly InputMessage[]): boolean =>
  input.some((message) => message.content.some((content) => content.type === 'input_image'));

/**
 * One text for a text-only transport: messages joined by a blank line, parts of a message without a separator.
 * Undefined when there is an image, which such a transport must reject instead of dropping.
 */
export function joinText(input: readonly InputMessage[]): string | undefined {
  if (hasImages(input)) return undefined;
  return input
    .map((message) =>
      message.content.map((content) => (content.type === 'input_text' ? content.text : '')).join(''),
    )
    .join('\n\n');
}

export interface InlineImage {
  readonly mediaType: 'image/png' | 'image/jpeg';
  /** Canonical base64. */
  readonly data: string;
}

/**
 * The inline image profile, for a sender or adapter that is qualified for it: exactly one of two lower-case headers,
 * canonical base64, and bytes that begin as an image of the declared format. Undefined for anything else.
 */
export function parseInlineImage(imageUrl: string): InlineImage | undefined {
  const comma = imageUrl.indexOf(',');
  const header = imageUrl.slice(0, comma);
  const mediaType =
    header === 'data:image/png;base64'
      ? 'image/png'
      : header === 'data:image/jpeg;base64'
        ? 'image/jpeg'
        : undefined;
  if (mediaType === undefined) return undefined;
  const data = imageUrl.slice(comma + 1);
  const bytes = decodeBase64(data);
  if (!bytes || data === '') return undefined;
  const readable = mediaType === 'image/png' ? startsAsPng(bytes) : startsAsJpeg(bytes);
  return readable ? { mediaType, data } : undefined;
}

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Signature and a first chunk `IHDR` with a size. */
function startsAsPng(bytes: Uint8Array): boolean {
  if (bytes.length < 33 || !PNG.every((byte, index) => bytes[index] === byte)) return false;
  const at = (index: number): number => bytes[index] ?? 0;
  const word = (index: number): number =>
    ((at(index) << 24) | (at(index + 1) << 16) | (at(index + 2) << 8) | at(index + 3)) >>> 0;
  const isHeader = word(8) === 13 && at(12) === 0x49 && at(13) === 0x48 && at(14) === 0x44 && at(15) === 0x52;
  return isHeader && word(16) > 0 && word(20) > 0;
}

/** Start of image, then segments up to a frame header with a size. */
function startsAsJpeg(bytes: Uint8Array): boolean {
  const at = (index: number): number => bytes[index] ?? 0;
  if (at(0) !== 0xff || at(1) !== 0xd8) return false;
  let index = 2;
  while (index + 9 < bytes.length) {
    if (at(index) !== 0xff) return false;
    const marker = at(index + 1);
    if (marker === 0xff) {
      index += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return (at(index + 5) << 8) + at(index + 6) > 0 && (at(index + 7) << 8) + at(index + 8) > 0;
    if (marker === 0xd9 || marker === 0xda) return false;
    index += 2 + ((at(index + 2) << 8) | at(index + 3));
  }
  return false;
}
