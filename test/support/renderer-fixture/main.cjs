'use strict';
// A shell without a daemon: serves the built window over app:// as the product does, with the stand-in bridge as preload.
const { app, BrowserWindow, protocol } = require('electron');
const path = require('node:path');

const [renderer, preload] = process.argv.slice(-2);
protocol.registerSchemesAsPrivileged([{ scheme: 'app', privileges: { standard: true, secure: true } }]);
app.on('window-all-closed', () => app.quit());
app.whenReady().then(() => {
  protocol.registerFileProtocol('app', (request, done) => {
    const name = path.basename(new URL(request.url).pathname) || 'index.html';
    done({ path: path.join(renderer, name) });
  });
  const window = new BrowserWindow({
    width: 1080,
    height: 720,
    useContentSize: true,
    show: true,
    // One world for page and preload, so that the stand-in can also hold the clock still. Never so in the product.
    webPreferences: { preload, contextIsolation: false, sandbox: false },
  });
  void window.loadURL('app://agent-runtime/index.html?scenario=home');
});
