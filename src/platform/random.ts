import { randomBytes, randomUUID } from 'node:crypto';

/** The only source of randomness, so that generated schedules in tests can be replayed from a seed. */
export interface Random {
  uuid(): string;
  /** `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string;
  /** Uniform in [0, 1). */
  fraction(): number;
}

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  hex: (bytes) => randomBytes(bytes).toString('hex'),
  fraction: () => randomBytes(4).readUInt32BE() / 2 ** 32,
};
