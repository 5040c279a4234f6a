// What the folder rules find for whoever runs this. Arguments: the folder, its home, its state.
import { judgeFolder } from '../../src/enrol/folder-rules.ts';

const [folder = '', home = '', state = ''] = process.argv.slice(2);
const found = await judgeFolder(folder, { home, state, others: [], mayCreate: true });
process.stdout.write(JSON.stringify(found));
