// First: it must have run before any schema is built.
import './zod-without-eval.ts';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { openLink } from './bridge.ts';
import { createServices } from './services.ts';
import { windowClock } from './window-clock.ts';

const root = document.getElementById('root');
if (root !== null) {
  const services = createServices(openLink(window, windowClock), windowClock, window);
  createRoot(root).render(<App services={services} />);
}
