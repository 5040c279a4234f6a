/**
 * One vocabulary of status marks for rows, pills, timeline and strips. The shape says it, colour repeats it: solid is
 * observed, outline is not yet, dashed is "it may have happened and we do not know".
 */
export type MarkShape =
  'on' | 'half' | 'ring' | 'dash' | 'bang' | 'slash' | 'xx' | 'tick' | 'minus' | 'hour' | 'paus' | 'sq';
export type Tone = 'ok' | 'run' | 'warn' | 'bad' | 'none';

export interface Mark {
  readonly shape: MarkShape;
  readonly tone: Tone;
}

export const mark = (shape: MarkShape, tone: Tone = 'none'): Mark => ({ shape, tone });
