/**
 * A program of a Plugin in the folder of its package, for Harnesses that start MCP servers in a folder of their own
 * choice. On Windows it starts where the Harness starts it: there is no shell that takes arguments as they are.
 */
export function inPackageFolder(
  command: string,
  args: readonly string[],
  cwd: string,
  platform: NodeJS.Platform,
): { readonly command: string; readonly args: readonly string[] } {
  if (platform === 'win32') return { command, args };
  return { command: '/bin/sh', args: ['-c', 'cd "$1" && shift && exec "$@"', 'sh', cwd, command, ...args] };
}
