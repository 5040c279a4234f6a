import { contextBridge, ipcRenderer } from 'electron';
import { ipcChannels, type WindowBridge } from '../src/contract/bridge.ts';

/** The newest view, kept for a page that subscribes after it arrived. */
let last: unknown = null;
const listeners = new Set<(view: unknown) => void>();
const showListeners = new Set<(what: unknown) => void>();
let pendingShow: unknown = null;

ipcRenderer.on(ipcChannels.view, (_event, view: unknown) => {
  last = view;
  for (const listener of listeners) listener(view);
});
ipcRenderer.on(ipcChannels.show, (_event, what: unknown) => {
  if (showListeners.size === 0) pendingShow = what;
  for (const listener of showListeners) listener(what);
});

const bridge: WindowBridge = {
  command: (name, request) => ipcRenderer.invoke(ipcChannels.command, name, request),
  chooseFolder: () => ipcRenderer.invoke(ipcChannels.chooseFolder),
  saveText: (name, text) => ipcRenderer.invoke(ipcChannels.saveText, name, text),
  onView: (listener) => {
    listeners.add(listener);
    if (last !== null) listener(last);
    return () => listeners.delete(listener);
  },
  onShow: (listener) => {
    showListeners.add(listener);
    if (pendingShow !== null) listener(pendingShow);
    pendingShow = null;
    return () => showListeners.delete(listener);
  },
  platform: process.platform === 'darwin' ? 'darwin' : process.platform === 'win32' ? 'win32' : 'linux',
};

contextBridge.exposeInMainWorld('agentRuntime', bridge);
