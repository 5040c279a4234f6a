/** Folder of the installed programs, whether they are there or not. */
export function programsFolder(): string;
/** Absolute path of the pinned Claude Code, installed first when it is not there. Rejects when it cannot be had. */
export function claudeProgram(): Promise<string>;
/** Absolute path of the pinned Codex (the native program). Installed and rejects like `claudeProgram`. */
export function codexProgram(): Promise<string>;
