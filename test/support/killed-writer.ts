// Writes a file and is killed on the way. Arguments: the root, the state folder, the place.
import { Folder } from '../../src/workspace/safe-path.ts';
import { Spool } from '../../src/workspace/spool.ts';
import { writeFile } from '../../src/workspace/write-file.ts';
import { WriteJournal } from '../../src/workspace/write-journal.ts';

const [root = '', state = '', place = ''] = process.argv.slice(2);
const transfers = `${state}/transfers`;
const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('it should be dead');
};
const spool = await Spool.create(transfers, 'killed');
await spool.append(Buffer.alloc(600_000, 1));
let reads = 0;
const body = {
  size: spool.size,
  read: (buffer: Buffer, at: number): Promise<number> => {
    if (place === 'temporary' && ++reads === 2) die();
    return spool.read(buffer, at);
  },
};
const folder = await Folder.openRoot(root);
if (place === 'before-link') Folder.prototype.link = () => Promise.resolve(die());
await writeFile(folder, new WriteJournal(transfers), {
  ...{ id: 'killed', folders: [Buffer.from('made'), Buffer.from('deep')], target: Buffer.from('target') },
  ...{ body, how: 'create' as const },
});
