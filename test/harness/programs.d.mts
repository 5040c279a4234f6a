/** Folder of the installed programs, whether they are there or not. */
export function programsFolder(): string;
/** Absolute path of the pinned Claude Code, installed first when it is not there. Rejects when it cannot be had. */
export function claudeProgram(): Promise<string>;
/** Absolute path of the pinned Codex (the native program). Installed and rejects like `claudeProgram`. */
export function codexProgram(): Promise<string>;
/** Absolute path of the pinned OpenCode. Installed and rejects like `claudeProgram`. */
export function openCodeProgram(): Promise<string>;
/** TypeScript source of the example agent of the Agent Client Protocol's old SDK. */
export function exampleAgentSource(): Promise<string>;
