import { describe, expect, test } from 'vitest';

import {
  hasImages,
  joinText,
  messageInputViolation,
  parseInlineImage,
  type MessageInput,
} from '../../../src/protocol/message-input.ts';

const text = (value: string) => ({ type: 'input_text' as const, text: value });
const image = (url: string) => ({ type: 'input_image' as const, image_url: url });
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
const jpeg = Buffer.from(
  'ffd8ffe000104a46494600010100000100010000ffc0000b080001000101011100ffd9',
  'hex',
).toString('base64');

describe('a message input', () => {
  test.each<[string, MessageInput, (string | number)[] | undefined]>([
    ['text', [{ content: [text('hi')] }], undefined],
    ['white space alone', [{ content: [text(' ')] }], undefined],
    ['an image alone', [{ content: [image('https://x/y.png')] }], undefined],
    ['an empty part beside text', [{ content: [text(''), text('a')] }], undefined],
    ['no message', [], []],
    ['an empty message', [{ content: [] }], [0, 'content']],
    ['empty text alone', [{ content: [text('a')] }, { content: [text('')] }], [1, 'content']],
    ['a blank image', [{ content: [text('a'), image(' ')] }], [0, 'content', 1, 'image_url']],
  ])('of %s', (_, input, path) => expect(messageInputViolation(input)?.path).toEqual(path));

  test('is one text for a text-only transport, unless it holds an image', () => {
    const input = [{ content: [text('a'), text('b')] }, { content: [text(' c')] }];
    expect(joinText(input)).toBe('ab\n\n c');
    expect(hasImages(input)).toBe(false);
    expect(joinText([...input, { content: [image('u')] }])).toBeUndefined();
  });
});

describe('the inline image profile', () => {
  test('takes a PNG and a JPEG', () => {
    expect(parseInlineImage(`data:image/png;base64,${png}`)).toEqual({ mediaType: 'image/png', data: png });
    expect(parseInlineImage(`data:image/jpeg;base64,${jpeg}`)?.mediaType).toBe('image/jpeg');
  });
  test.each([
    ['a remote URL', 'https://x/y.png'],
    ['upper case', `data:image/PNG;base64,${png}`],
    ['a parameter', `data:image/png;charset=utf-8;base64,${png}`],
    ['another format', `data:image/gif;base64,${png}`],
    ['the wrong declaration', `data:image/jpeg;base64,${png}`],
    ['a JPEG declared as PNG', `data:image/png;base64,${jpeg}`],
    ['no data', 'data:image/png;base64,'],
    ['a line break', `data:image/png;base64,${png.slice(0, 8)}\n${png.slice(8)}`],
    ['missing padding', `data:image/jpeg;base64,${jpeg.replace(/=+$/, '')}`.replace(/[^=]$/, '')],
    ['a cut header', `data:image/png;base64,${png.slice(0, 16)}`],
    [
      'other bytes',
      `data:image/png;base64,${Buffer.from('no picture at all, only text').toString('base64')}`,
    ],
    ['a JPEG without a frame', `data:image/jpeg;base64,${Buffer.from('ffd8ffd9', 'hex').toString('base64')}`],
  ])('refuses %s', (_, url) => expect(parseInlineImage(url)).toBeUndefined());
});
