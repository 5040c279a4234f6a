/** Native tool input as label and value, nested ones indented. Nothing is left out. */
export interface InputRow {
  readonly depth: number;
  readonly label: string;
  /** Null for a label whose values follow, indented. */
  readonly value: string | null;
}

const scalar = (value: unknown): string | null =>
  value === null || typeof value === 'boolean' || typeof value === 'number'
    ? String(value)
    : typeof value === 'string'
      ? value
      : null;

/** Deeper nesting than this is shown as JSON on one row. */
const deepest = 8;

export function inputRows(input: unknown, depth = 0): readonly InputRow[] {
  const single = scalar(input);
  if (single !== null) return [{ depth, label: '', value: single }];
  if (typeof input !== 'object' || input === null) return [];
  const entries: readonly (readonly [string, unknown])[] = Array.isArray(input)
    ? input.map((value: unknown, index) => [`${index + 1}`, value] as const)
    : Object.entries(input);
  return entries.flatMap(([label, value]) => inputRow(label, value, depth));
}

function inputRow(label: string, value: unknown, depth: number): readonly InputRow[] {
  const single = scalar(value);
  if (single !== null) return [{ depth, label, value: single }];
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const flat = items.map(scalar);
    if (items.length === 0) return [{ depth, label, value: '[]' }];
    if (flat.every((item) => item !== null && !item.includes('\n') && item.length <= 60)) {
      return [{ depth, label, value: flat.join(', ') }];
    }
  }
  if (typeof value !== 'object' || value === null) return [{ depth, label, value: '' }];
  if (depth >= deepest) return [{ depth, label, value: JSON.stringify(value) }];
  if (Object.keys(value).length === 0) return [{ depth, label, value: '{}' }];
  return [{ depth, label, value: null }, ...inputRows(value, depth + 1)];
}
