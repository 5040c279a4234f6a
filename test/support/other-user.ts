// What somebody without rights gets from a workspace. Arguments: the root, a state folder of theirs.
import { silentLogger } from '../../src/observe/logger.ts';
import { LocalWorkspace } from '../../src/workspace/local-workspace.ts';
import { WorkspaceError } from '../../src/workspace/workspace-error.ts';

const [root = '', stateDir = ''] = process.argv.slice(2);
const signal = new AbortController().signal;
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof WorkspaceError ? error.code : String(error)),
  );
const workspace = new LocalWorkspace({ root, stateDir, logger: silentLogger, createSteps: null });
const opened = await workspace.open();
const write = async (id: string, path: string): Promise<string> => {
  const body = await workspace.spool(id);
  await body.append(Buffer.from('x'));
  const outcome = await workspace.create({ id, path, size: 1, sha256: '' }, body);
  await body.discard();
  return outcome.kind === 'rejected' ? outcome.code : outcome.kind;
};
const result = {
  read: await codeOf(opened.read('secret', 10, signal)),
  below: await codeOf(opened.read('locked/f', 10, signal)),
  list: await codeOf(opened.list('locked', 10, signal)),
  write: await write('w1', 'new'),
  writeBelow: await write('w2', 'locked/new'),
  root: await codeOf(opened.list('', 10, signal)),
};
process.stdout.write(JSON.stringify(result));
