// A browser for the console's page: a Chromium window without any bridge, on the address it is given.
const { app, BrowserWindow } = require('electron');

app.on('window-all-closed', () => app.quit());
void app.whenReady().then(() => {
  const window = new BrowserWindow({ width: 1080, height: 720 });
  void window.loadURL(process.argv.at(-1));
});
