// Swaps the folders and files of a workspace for links to the outside, as fast as it can, until it is ended.
// Arguments: the root, the folder outside of it.
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const [root, outside] = process.argv.slice(2);
const attempt = (act) => {
  try {
    act();
  } catch {
    // Whatever is in the way is there in the next round too.
  }
};
attempt(() => execFileSync('mkfifo', [join(root, 'spare-pipe')]));
process.stdout.write('ready\n');
for (let round = 0; ; round++) {
  // A folder, then a link to the outside under the same name, then the folder again.
  attempt(() => renameSync(join(root, 'a'), join(root, 'kept')));
  attempt(() => symlinkSync(outside, join(root, 'a')));
  attempt(() => unlinkSync(join(root, 'a')));
  attempt(() => renameSync(join(root, 'kept'), join(root, 'a')));
  // The folder below, moved out of the root and back.
  attempt(() => renameSync(join(root, 'a', 'b'), join(outside, '..', 'moved')));
  attempt(() => symlinkSync(join(outside, 'b'), join(root, 'a', 'b')));
  attempt(() => unlinkSync(join(root, 'a', 'b')));
  attempt(() => renameSync(join(outside, '..', 'moved'), join(root, 'a', 'b')));
  // The file itself: a link, a pipe, a file.
  const file = join(root, 'a', 'b', 'f');
  attempt(() => unlinkSync(file));
  attempt(() => symlinkSync(join(outside, 'b', 'secret'), file));
  attempt(() => unlinkSync(file));
  if (round % 8 === 0) attempt(() => linkSync(join(root, 'spare-pipe'), file));
  attempt(() => unlinkSync(file));
  attempt(() => writeFileSync(file, 'inside'));
  attempt(() => mkdirSync(join(root, 'a', 'b'), { recursive: true }));
  if (round % 64 === 0) attempt(() => rmSync(join(root, 'a', 'b', 'new'), { recursive: true, force: true }));
}
