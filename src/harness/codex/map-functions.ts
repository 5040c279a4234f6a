import type { FunctionTool } from '../../protocol/execution.ts';
import type { NameOf } from './map-tools.ts';

/** Functions that are only found by search live in a namespace of their own, which the program demands. */
const LATER = 'later';
const nativeFunction = (tool: FunctionTool): Record<string, unknown> => ({
  type: 'function',
  name: tool.name,
  description: tool.description,
  inputSchema: tool.parameters,
});

/** Functions of an Agent in the program's form. */
export function nativeFunctions(functions: readonly FunctionTool[]): readonly unknown[] {
  const later = functions.filter((tool) => tool.defer_loading);
  return [
    ...functions.filter((tool) => !tool.defer_loading).map(nativeFunction),
    ...(later.length === 0
      ? []
      : [
          {
            type: 'namespace',
            name: LATER,
            description: 'Further functions, found by search.',
            tools: later.map((tool) => ({ ...nativeFunction(tool), deferLoading: true })),
          },
        ]),
  ];
}

/** The name the program knows a function under, its namespace included. */
export const nativeName = (tool: FunctionTool): string =>
  joinName(tool.name, tool.defer_loading ? LATER : null);
export const joinName = (tool: string, namespace: string | null): string =>
  namespace ? `${namespace}::${tool}` : tool;

/** The declared name of a function by its native one; a foreign one keeps what it is called. */
export const declaredName =
  (functions: ReadonlyMap<string, string>): NameOf =>
  (tool, namespace) =>
    functions.get(joinName(tool, namespace)) ?? joinName(tool, namespace);
