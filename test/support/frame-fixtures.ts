import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod';

const folder = fileURLToPath(new URL('../frames/', import.meta.url));

const frameObject = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  payload: z.unknown().optional(),
});
export type FrameObject = z.output<typeof frameObject>;

const rejection = z.object({
  rule: z.string(),
  frame: frameObject,
  stage: z.enum(['decode', 'validate']),
  path: z.string(),
  code: z.string().optional(),
});
export type Rejection = z.output<typeof rejection>;

function readFolder<S extends z.ZodType>(name: string, entry: S): Map<string, z.output<S>[]> {
  const files = readdirSync(`${folder}${name}`).filter((file) => file.endsWith('.json'));
  return new Map(
    files.map((file) => [
      file.slice(0, -'.json'.length),
      z.array(entry).parse(JSON.parse(readFileSync(`${folder}${name}/${file}`, 'utf8'))),
    ]),
  );
}

/** Frames that every reader accepts, by type. */
export const acceptedFrames = (): Map<string, FrameObject[]> => readFolder('accept', frameObject);
/** Frames that break exactly one rule, by type. */
export const rejectedFrames = (): Map<string, Rejection[]> => readFolder('reject', rejection);

const verdictRow = z.object({
  frame: z.unknown(),
  mutation: z.string(),
  strict: z.boolean(),
  lenient: z.boolean(),
  stage: z.string().optional(),
  canonical: z.unknown().optional(),
});
export type VerdictRow = z.output<typeof verdictRow>;

/** Verdicts of the reference's own validators on generated frames. */
export const verdictRows = (): VerdictRow[] =>
  gunzipSync(readFileSync(`${folder}verdicts.jsonl.gz`))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => verdictRow.parse(JSON.parse(line)));

const difference = z.object({ id: z.string(), rows: z.number(), reason: z.string() });
export const verdictDifferences = (): z.output<typeof difference>[] =>
  z.array(difference).parse(JSON.parse(readFileSync(`${folder}verdict-differences.json`, 'utf8')));
