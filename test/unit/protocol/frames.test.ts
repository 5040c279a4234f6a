import { describe, expect, test } from 'vitest';

import { judgeFrame } from '../../../src/conformance/frames.ts';
import { decodeFrame, encodeFrame, type Decoded } from '../../../src/protocol/codec.ts';
import { frames, isFrameType, type FrameType } from '../../../src/protocol/registry.ts';
import { acceptedFrames, rejectedFrames, type FrameObject } from '../../support/frame-fixtures.ts';

const decode = (frame: FrameObject): Decoded => {
  if (!isFrameType(frame.type)) throw new Error(`no such type: ${frame.type}`);
  return decodeFrame(JSON.stringify(frame), frames[frame.type].direction);
};

describe('accepted frames', () => {
  const accepted = acceptedFrames();

  test('every type of the registry has an example', () => {
    expect([...accepted.keys()].sort()).toEqual(Object.keys(frames).sort());
  });

  for (const [type, list] of accepted)
    test.each(list.map((frame, index) => [index, frame] as const))(
      `${type} %i decodes and encodes to the same frame`,
      (_, frame) => {
        const decoded = decode(frame);
        if (decoded.outcome !== 'frame') throw new Error(JSON.stringify(decoded));
        const { id, payload, trace } = decoded.frame;
        // The payload is the decoded one of this very type.
        const encoded = encodeFrame<FrameType>(decoded.frame.type, { id, payload, trace });
        expect(JSON.parse(encoded.text)).toEqual(withoutEmptyBody(frame));
        expect(judgeFrame({ frame })).toEqual({ ok: true, canonical: frame.payload ?? {} });
      },
    );
});

const withoutEmptyBody = (frame: FrameObject): FrameObject => {
  const { payload, ...rest } = frame;
  return payload === undefined ? rest : frame;
};

describe('rejected frames', () => {
  for (const [type, list] of rejectedFrames())
    test.each(list.map((entry) => [entry.rule, entry] as const))(`${type} with %s is refused`, (_, entry) => {
      expect(judgeFrame({ frame: entry.frame })).toEqual({
        ok: false,
        stage: entry.stage,
        path: entry.path,
        ...(entry.code === undefined ? {} : { code: entry.code }),
      });
    });
});

test('a Core ignores undeclared members of what a Runtime sends, but for three strict families', () => {
  const strict: string[] = [];
  for (const [type, list] of acceptedFrames()) {
    const frame = list[0];
    if (!frame || !isFrameType(type) || frames[type].direction !== 'runtime-to-core') continue;
    const body = { ...Object(frame.payload ?? {}), undeclared: 1 };
    if (decode({ ...frame, payload: body }).outcome !== 'frame') strict.push(type);
  }
  expect(strict).toEqual(['tool_call']);
});

test('a Runtime refuses undeclared members of everything that a Core sends', () => {
  for (const [type, list] of acceptedFrames()) {
    const frame = list[0];
    if (!frame || !isFrameType(type) || frames[type].direction !== 'core-to-runtime') continue;
    const body = { ...Object(frame.payload ?? {}), undeclared: 1 };
    expect([type, decode({ ...frame, payload: body }).outcome]).toEqual([type, 'refused']);
  }
});
