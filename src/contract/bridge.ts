/**
 * Electron IPC channel names. The only ones that exist. This file imports nothing: the preload script is made of it and
 * runs before every page.
 */
export const ipcChannels = {
  /** invoke(name, request) -> CommandResult */
  command: 'agent-runtime:command',
  /** invoke() -> the path that the person chose in the system's own dialogue, or null */
  chooseFolder: 'agent-runtime:choose-folder',
  /** invoke(name, text) -> whether the person saved it, through the system's own dialogue */
  saveText: 'agent-runtime:save-text',
  /** main -> window: a View */
  view: 'agent-runtime:view',
  /** main -> window: something the shell asks the window to show */
  show: 'agent-runtime:show',
} as const;

/** The one object the preload exposes as `window.agentRuntime`. */
export interface WindowBridge {
  command(name: string, request: unknown): Promise<unknown>;
  chooseFolder(): Promise<unknown>;
  saveText(name: string, text: string): Promise<unknown>;
  onView(listener: (view: unknown) => void): () => void;
  onShow(listener: (show: unknown) => void): () => void;
  readonly platform: 'linux' | 'darwin' | 'win32';
}
