import { mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { autostartEntry, DesktopEntry, linkEntry } from '../../../src/app/desktop-entry.ts';
import { takeLinks, type LinkHandlerPorts } from '../../../src/app/link-handler.ts';
import { silentLogger } from '../../../src/observe/logger.ts';

/** The value of Exec as a desktop reads it: first a string of the format, then its quoted argument. */
function programIn(entry: string): string {
  const value = /^Exec=(.*)$/m.exec(entry)?.[1] ?? '';
  const text = value.replace(/\\([sntr\\])/g, (_whole, what: string) =>
    what === '\\' ? '\\' : ({ s: ' ', n: '\n', t: '\t', r: '\r' }[what] ?? ''),
  );
  const quoted = /^"((?:[^"\\]|\\.)*)" --hidden$/s.exec(text)?.[1] ?? 'not quoted';
  return quoted.replace(/\\(["`$\\])/g, '$1').replace(/%%/g, '%');
}

describe('the entry that starts the app with the session', () => {
  test.each([
    '/opt/Agent Runtime/agent-runtime-desktop',
    '/home/jörg/Äpfel & Birnen/app',
    '/tmp/100%/%u/app',
    '/tmp/a"b`c$d\\e/app',
    '/tmp/line\nbreak\t/app',
  ])('names %j as it is', (program) => {
    expect(programIn(autostartEntry(program))).toBe(program);
  });
});

describe('the autostart file', () => {
  const open = async (): Promise<{ path: string; file: DesktopEntry }> => {
    const path = join(await mkdtemp(join(tmpdir(), 'autostart-')), 'autostart', 'app.desktop');
    return { path, file: new DesktopEntry(path, autostartEntry) };
  };
  const there = (path: string): Promise<boolean> =>
    stat(path).then(
      () => true,
      () => false,
    );

  test('is written, renewed and taken back; changes follow each other', async () => {
    const { path, file } = await open();
    expect(await file.set(false, '/new app')).toBe('done');
    await Promise.all([file.set(true, '/old'), file.set(false, '/old'), file.set(true, '/new app')]);
    expect(await file.set(false, '/another copy')).toBe('foreign');
    expect(programIn(await readFile(path, 'utf8'))).toBe('/new app');
    expect(await file.set(false, '/new app')).toBe('done');
    expect(await there(path)).toBe(false);
  });

  test('of another program, or one that a person hid, is left as it is', async () => {
    const { path, file } = await open();
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '[Desktop Entry]\nExec=/usr/bin/other\n');
    expect(await file.set(true, '/app')).toBe('foreign');
    expect(await file.set(false, '/new app')).toBe('foreign');
    expect(await readFile(path, 'utf8')).toContain('/usr/bin/other');
    await writeFile(path, `${autostartEntry('/app')}Hidden=true\n`);
    expect(await file.set(true, '/app')).toBe('hidden');
    expect(await readFile(path, 'utf8')).toContain('Hidden=true');
  });

  test('that cannot be written says so, and the next change still works', async () => {
    const { path, file } = await open();
    await mkdir(path, { recursive: true });
    await expect(file.set(true, '/app')).rejects.toThrow();
    await expect(file.set(false, '/new app')).rejects.toThrow();
  });
});

describe('links of the scheme', () => {
  const bed = async (
    handler: string | Error,
  ): Promise<{ ports: LinkHandlerPorts; calls: string[]; file: string }> => {
    const folder = join(await mkdtemp(join(tmpdir(), 'links-')), 'applications');
    const calls: string[] = [];
    const ports: LinkHandlerPorts = {
      logger: silentLogger,
      folder,
      xdgMime: (...args) => {
        calls.push(args.join(' '));
        if (handler instanceof Error) return Promise.reject(handler);
        return Promise.resolve(args[0] === 'query' ? `${handler}\n` : '');
      },
    };
    return { ports, calls, file: join(folder, 'agent-runtime-links.desktop') };
  };
  const there = (path: string): Promise<boolean> =>
    stat(path).then(
      () => true,
      () => false,
    );
  const asked = 'query default x-scheme-handler/agent-runtime';

  test.each(['', 'agent-runtime-links.desktop'])('are taken where %j has them', async (handler) => {
    const { ports, calls, file } = await bed(handler);
    await takeLinks('agent-runtime', '/home/a b/Agent.AppImage', ports);
    expect(calls).toEqual([asked, 'default agent-runtime-links.desktop x-scheme-handler/agent-runtime']);
    const entry = await readFile(file, 'utf8');
    expect(entry).toBe(linkEntry('agent-runtime')('/home/a b/Agent.AppImage'));
    expect(entry).toContain('\nExec="/home/a b/Agent.AppImage" %u\n');
    expect(entry).toContain('\nMimeType=x-scheme-handler/agent-runtime;\n');
  });

  test.each(['agent-runtime-desktop.desktop', 'other.desktop'])('stay with %s', async (handler) => {
    const { ports, calls, file } = await bed(handler);
    await takeLinks('agent-runtime', '/app', ports);
    expect(calls).toEqual([asked]);
    expect(await there(file)).toBe(false);
  });

  test('stay as they are on a desktop without xdg-mime, and where a person hid the entry', async () => {
    const missing = await bed(Object.assign(new Error('spawn xdg-mime ENOENT'), { code: 'ENOENT' }));
    await takeLinks('agent-runtime', '/app', missing.ports);
    expect(await there(missing.file)).toBe(false);
    const { ports, calls, file } = await bed('');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${linkEntry('agent-runtime')('/app')}Hidden=true\n`);
    await takeLinks('agent-runtime', '/app', ports);
    expect(calls).toEqual([asked]);
  });
});
