import {
  commandResultSchema,
  commands,
  type CommandAnswer,
  type CommandName,
  type CommandRequest,
  type FrontEnd,
} from '../src/contract/commands.ts';
import type { WindowBridge } from '../src/contract/bridge.ts';
import { pipeReplySchema, showSchema, type Show } from '../src/contract/channels.ts';
import type { PipeRequest } from '../src/contract/pipe-request.ts';
import { viewSchema, type View } from '../src/contract/view.ts';
import { said } from './i18n/said.ts';
import { t } from './i18n/t.ts';
import type { WindowClock } from './window-clock.ts';

/**
 * The daemon as the window sees it, over one of two pipes: the preload's bridge in the desktop app, a loopback
 * WebSocket in the browser console. Every answer and every view is parsed here; nothing unparsed goes further.
 */
export interface WindowLink extends FrontEnd {
  onStatus(listener: (status: LinkStatus) => void): () => void;
  /** What tray, notification or menu asks the window to show. Never in the browser. */
  onShow(listener: (show: Show) => void): () => void;
  /** The system's dialogue for a folder; null in the browser, which has none that gives a path. */
  readonly chooseFolder: (() => Promise<string | null>) | null;
  /** Saves a text where the person says. False: they did not. A failure rejects. */
  saveText(name: string, text: string): Promise<boolean>;
  readonly platform: 'linux' | 'darwin' | 'win32';
  readonly shell: 'desktop' | 'browser';
}

/** `unreadable`: something arrived that is not a view; the last good one stays on screen. */
export type LinkStatus = 'connecting' | 'open' | 'closed' | 'unreadable';

/** A call that the daemon refused, or that did not reach it (`closed`: whether it was done is not known). */
export class CallError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'CallError';
    this.code = code;
  }
}

const closed = (): CallError => new CallError('closed', t('call.closed'));

/** Parses an answer by its command's schema. A wrong one is an error of that call alone. */
function parseAnswer<N extends CommandName>(name: N, answer: unknown): CommandAnswer<N> {
  const parsed = commands[name].answer.safeParse(answer);
  if (!parsed.success) throw new CallError('fault', t('call.unreadable'));
  return parsed.data as CommandAnswer<N>;
}

/** Calls each listener and keeps those that subscribe later up to date with the last value. */
class Broadcast<T> {
  readonly #listeners = new Set<(value: T) => void>();
  #last: { readonly value: T } | null = null;

  send(value: T): void {
    this.#last = { value };
    for (const listener of this.#listeners) listener(value);
  }
  subscribe(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    if (this.#last !== null) listener(this.#last.value);
    return () => void this.#listeners.delete(listener);
  }
}

/** True for the object that the preload exposes. */
export function isWindowBridge(value: unknown): value is WindowBridge {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'command' in value &&
    typeof value.command === 'function' &&
    'chooseFolder' in value &&
    typeof value.chooseFolder === 'function' &&
    'saveText' in value &&
    typeof value.saveText === 'function' &&
    'onView' in value &&
    typeof value.onView === 'function' &&
    'onShow' in value &&
    typeof value.onShow === 'function' &&
    'platform' in value &&
    typeof value.platform === 'string'
  );
}

/** Over the preload's bridge. The first view is asked for; the ones after it are pushed. */
export function openDesktopLink(bridge: WindowBridge): WindowLink {
  const views = new Broadcast<View>();
  const status = new Broadcast<LinkStatus>();
  const shows = new Broadcast<Show>();
  status.send('connecting');

  const call = async <N extends CommandName>(
    name: N,
    request: CommandRequest<N>,
  ): Promise<CommandAnswer<N>> => {
    let raw: unknown;
    try {
      raw = await bridge.command(name, request);
    } catch {
      // The other end always answers with a result, so a rejection means that it is gone.
      status.send('closed');
      throw closed();
    }
    const result = commandResultSchema.safeParse(raw);
    if (!result.success) throw new CallError('fault', t('call.unreadable'));
    if (!result.data.ok) throw new CallError(result.data.error.code, said(result.data.error.message));
    return parseAnswer(name, result.data.answer);
  };

  bridge.onView((raw) => {
    const parsed = viewSchema.safeParse(raw);
    status.send(parsed.success ? 'open' : 'unreadable');
    if (parsed.success) views.send(parsed.data);
  });
  bridge.onShow((raw) => {
    const parsed = showSchema.safeParse(raw);
    if (parsed.success) shows.send(parsed.data);
  });
  call('view.get', {}).then(
    (view) => {
      status.send('open');
      views.send(view);
    },
    (error: unknown) =>
      status.send(error instanceof CallError && error.code === 'fault' ? 'unreadable' : 'closed'),
  );

  return {
    call,
    onView: (listener) => views.subscribe(listener),
    onStatus: (listener) => status.subscribe(listener),
    onShow: (listener) => shows.subscribe(listener),
    chooseFolder: async () => {
      const path = await bridge.chooseFolder().catch(() => null);
      return typeof path === 'string' && path !== '' ? path : null;
    },
    saveText: async (name, text) => (await bridge.saveText(name, text)) === true,
    platform: bridge.platform,
    shell: 'desktop',
  };
}

/** The part of a WebSocket that the console link uses; tests pass their own. */
export interface ConsoleSocket {
  send(text: string): void;
  close(): void;
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: (() => void) | null;
}

export interface ConsoleOptions {
  readonly clock: WindowClock;
  readonly connect: () => ConsoleSocket;
  readonly platform: WindowLink['platform'];
}

/** Waits between attempts to reach the daemon again, milliseconds; the last one repeats. */
const retryAfter = [500, 1_000, 2_000, 5_000] as const;

/**
 * Over `ws://<this host>/console`, one JSON object a message (`pipeRequestSchema`, `pipeReplySchema`). The cookie that
 * the one-time address left is the only proof; a lost connection is dialed again, an answer that was under way is lost.
 */
export function openConsoleLink({ clock, connect, platform }: ConsoleOptions): WindowLink {
  const views = new Broadcast<View>();
  const status = new Broadcast<LinkStatus>();
  const pending = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();
  let socket: ConsoleSocket | null = null;
  let nextId = 1;
  let attempt = 0;
  status.send('connecting');

  const send = (request: PipeRequest): void => socket?.send(JSON.stringify(request));

  const receive = (data: unknown): void => {
    const parsed = pipeReplySchema.safeParse(readJson(data));
    if (!parsed.success) return status.send('unreadable');
    const reply = parsed.data;
    if (reply.type === 'view') {
      attempt = 0;
      status.send('open');
      views.send(reply.view);
      return;
    }
    const waiting = pending.get(reply.id);
    pending.delete(reply.id);
    if (reply.type === 'answer') waiting?.resolve(reply.answer);
    else waiting?.reject(new CallError(reply.error.code, said(reply.error.message)));
  };

  const dial = (): void => {
    const current = connect();
    let open = false;
    current.onopen = () => {
      open = true;
      socket = current;
      send({ type: 'subscribe' });
    };
    current.onmessage = (event) => receive(event.data);
    current.onclose = () => {
      if (open && socket !== current) return;
      socket = null;
      for (const waiting of pending.values()) waiting.reject(closed());
      pending.clear();
      status.send('closed');
      clock.after(retryAfter[Math.min(attempt, retryAfter.length - 1)] ?? 5_000, dial);
      attempt += 1;
    };
  };
  dial();

  return {
    call: async (name, request) => {
      if (socket === null) throw closed();
      const id = nextId++;
      const answer = await new Promise<unknown>((resolve, reject) => {
        pending.set(id, { resolve, reject });
        send({ type: 'call', id, name, request });
      });
      return parseAnswer(name, answer);
    },
    onView: (listener) => views.subscribe(listener),
    onStatus: (listener) => status.subscribe(listener),
    onShow: () => () => undefined,
    platform,
    chooseFolder: null,
    saveText: (name, text) => Promise.resolve(download(name, text)),
    shell: 'browser',
  };
}

/** In a browser it lands where downloads land. */
function download(name: string, text: string): boolean {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
  return true;
}

function readJson(data: unknown): unknown {
  if (typeof data !== 'string') return null;
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

/** The link of this page: the preload's bridge where there is one, else the console's socket. */
export function openLink(page: Window, clock: WindowClock): WindowLink {
  const exposed: unknown = 'agentRuntime' in page ? page.agentRuntime : undefined;
  if (isWindowBridge(exposed)) return openDesktopLink(exposed);
  const agent = page.navigator.userAgent;
  return openConsoleLink({
    clock,
    platform: /Mac/.test(agent) ? 'darwin' : /Windows/.test(agent) ? 'win32' : 'linux',
    connect: () => {
      const socket = new WebSocket(
        `${page.location.protocol === 'https:' ? 'wss' : 'ws'}://${page.location.host}/console`,
      );
      const adapted: ConsoleSocket = {
        send: (text) => socket.send(text),
        close: () => socket.close(),
        onopen: null,
        onmessage: null,
        onclose: null,
      };
      socket.onopen = () => adapted.onopen?.();
      socket.onmessage = (event: MessageEvent<unknown>) => adapted.onmessage?.({ data: event.data });
      socket.onclose = () => adapted.onclose?.();
      return adapted;
    },
  });
}
