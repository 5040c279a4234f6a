import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import { app, protocol, session, type WebContents } from 'electron';

/** The window's own scheme: no file: access, no server, one fixed folder. */
export const scheme = 'app';
export const origin = `${scheme}://window`;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

const csp =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Before `ready`. */
export function registerScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: false, corsEnabled: false } },
  ]);
}

/** After `ready`: serves `folder` under app://window/ and nothing else, and refuses every permission. */
export function serveWindow(folder: string): void {
  const load = async (url: string): Promise<{ body: Buffer; type: string } | null> => {
    const { host, pathname } = new URL(url);
    const path = normalize(join(folder, pathname === '/' ? 'index.html' : decodeURIComponent(pathname)));
    const type = types[extname(path)];
    if (host !== 'window' || !path.startsWith(folder + sep) || type === undefined) return null;
    return readFile(path).then(
      (body) => ({ body, type }),
      () => null,
    );
  };
  const headers = (type: string): Record<string, string> => ({
    'Content-Type': type,
    'Content-Security-Policy': csp,
    'X-Content-Type-Options': 'nosniff',
  });
  if (typeof protocol.handle === 'function') {
    protocol.handle(scheme, async (request) => {
      const found = await load(request.url);
      return found
        ? new Response(new Uint8Array(found.body), { headers: headers(found.type) })
        : new Response('Not found', { status: 404 });
    });
  } else {
    // Electron before 25 has no `protocol.handle`.
    protocol.registerBufferProtocol(scheme, (request, callback) => {
      void load(request.url).then((found) =>
        callback(
          found
            ? {
                data: found.body,
                mimeType: found.type.split(';')[0] ?? found.type,
                charset: 'utf-8',
                headers: headers(found.type),
              }
            : { error: -6 },
        ),
      );
    });
  }
  const { defaultSession } = session;
  defaultSession.setPermissionRequestHandler((_contents, _permission, callback) => callback(false));
  defaultSession.setPermissionCheckHandler(() => false);
  defaultSession.setDevicePermissionHandler(() => false);
  // The window needs no network: nothing but its own files is ever loaded.
  defaultSession.webRequest.onBeforeRequest((details, callback) => {
    const allowed =
      details.url.startsWith(`${origin}/`) ||
      details.url.startsWith('data:') ||
      details.url.startsWith('devtools:');
    callback({ cancel: !allowed });
  });
  defaultSession.on('will-download', (event) => event.preventDefault());
}

/** No page but ours, no second window, no webview, whatever a page tries. */
export function lockDown(): void {
  app.on('web-contents-created', (_event, contents) => {
    contents.setWindowOpenHandler(() => ({ action: 'deny' }));
    contents.on('will-navigate', (event) => event.preventDefault());
    contents.on('will-redirect', (event) => event.preventDefault());
    contents.on('will-attach-webview', (event) => event.preventDefault());
  });
}

/** IPC is taken from the main frame of our own page alone. */
export function isOurFrame(sender: WebContents, frame: Electron.WebFrameMain | null): boolean {
  if (!frame || frame !== sender.mainFrame) return false;
  try {
    return new URL(frame.url).origin === origin || frame.url.startsWith(`${origin}/`);
  } catch {
    return false;
  }
}
