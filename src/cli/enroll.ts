import { resolve } from 'node:path';
import { credentialFileText, withEnrolments } from '../app/enrol-alone.ts';
import type { EnrolmentSource, EnrolmentView } from '../contract/enrolment.ts';
import type { CommandRequest } from '../contract/commands.ts';
import { RuntimeError, errorCodes, rejected } from '../observe/errors.ts';
import type { Parsed } from './arguments.ts';
import { ControlClient } from './client.ts';
import type { CliCommand, CommandContext } from './command.ts';
import { exitCodes, plain, type ExitCode, type Output } from './output.ts';
import { readSecretText } from './read-secret.ts';

/** What an enrolment needs, whoever does it: the running Runtime, or this process. */
interface Enroller {
  read(request: CommandRequest<'enrol.read'>): Promise<EnrolmentView>;
  confirm(id: string, name: string): Promise<EnrolmentView>;
  close(id: string): Promise<void>;
}

export const enrollCommand: CliCommand = {
  help: `agent-runtime enroll --endpoint URL --grant-file FILE [options]
agent-runtime enroll --invitation-file FILE [options]
agent-runtime enroll --remote URL --environment-id ID --credential-file FILE --workspace DIR [options]

  --endpoint URL, --grant-file FILE   the two values of an install command
  --invitation-file FILE     an install command or link as a whole
  --remote URL               wss://…/api/v1/agent-daemon/ws, with the file an operator issued
  --environment-id ID
  --credential-file FILE     {"key_id","environment_id","executor_token"}; yours alone (mode 600)
  --workspace DIR            the folder to bind; an invitation names its own, and this only confirms it
  --name NAME                of the binding; else the name of its folder
  --store keychain|file      where the credential is kept from now on: the system keychain (default), or a file that
                             anybody who runs as you can read
  --dry-run                  say what would be bound, and bind nothing

FILE may be - for standard input. A secret is never an argument. Where a Runtime runs, it serves the binding at once;
else start one with agent-runtime run. Exits with 3 when Core refuses for good.`,
  options: {
    endpoint: { type: 'string' },
    'grant-file': { type: 'string' },
    'invitation-file': { type: 'string' },
    remote: { type: 'string' },
    'environment-id': { type: 'string' },
    'credential-file': { type: 'string' },
    workspace: { type: 'string' },
    name: { type: 'string' },
    store: { type: 'string' },
    'dry-run': { type: 'boolean' },
  },
  run: async (context) => {
    const { parsed } = context;
    if (parsed.positionals.length > 0) throw rejected('usage', 'Everything is an option here. See --help.');
    const store = storeOf(parsed);
    const workspace = parsed.text('workspace');
    const name = parsed.text('name');
    const request: CommandRequest<'enrol.read'> = {
      source: await sourceOf(parsed),
      ...(workspace === undefined ? {} : { workspace: resolve(workspace) }),
      ...(name === undefined ? {} : { name }),
    };
    if (request.source.kind === 'credential' && workspace === undefined) {
      throw rejected('usage', '--workspace DIR names the existing folder to bind.');
    }
    return withEnroller(context, store, (enroller) => enrolWith(enroller, context, request));
  },
};

async function enrolWith(
  enroller: Enroller,
  { parsed, output }: CommandContext,
  request: CommandRequest<'enrol.read'>,
): Promise<ExitCode> {
  const found = await enroller.read(request);
  try {
    describe(found, output);
    if (found.folder === null) {
      throw rejected('usage', 'This Session names no folder of this machine: give one with --workspace DIR.');
    }
    if (found.folder.refusal !== null) throw rejected('workspace_unusable', found.folder.refusal);
    if (parsed.flag('dry-run')) {
      output.document(found, () => 'Nothing was bound.');
      return exitCodes.done;
    }
    const bound = await enroller.confirm(found.id, found.name);
    if (bound.error) throw errorOf(bound.error);
    output.document(bound, () => endText(bound));
    return exitCodes.done;
  } finally {
    await enroller.close(found.id).catch(() => undefined);
  }
}

function describe(found: EnrolmentView, output: Output): void {
  const { folder } = found;
  output.message(plain(`Core: ${found.host}${found.encrypted ? '' : ' (on this machine, not encrypted)'}`));
  output.message(`Environment: ${found.environment_id}`);
  if (found.core_version !== null) output.message(plain(`Build of Core: ${found.core_version}`));
  if (folder) {
    const made = folder.exists || folder.refusal !== null ? '' : ' (will be made)';
    output.message(plain(`Folder: ${folder.path}${made}`));
    if (folder.exists && !folder.writable)
      output.message('The folder can only be read. Agents can change nothing there.');
    for (const { binding, how } of folder.overlaps) {
      const what = {
        same: `is the folder of “${binding}” too`,
        inside: `lies inside the folder of “${binding}”`,
        contains: `contains the folder of “${binding}”`,
      }[how];
      output.message(`The folder ${what}: both bindings can change the same files.`);
    }
  }
  output.message(
    'Tools run as you, with your rights, and can reach everything you can. The folder is a starting place, not a wall.',
  );
}

function endText(bound: EnrolmentView): string {
  if (bound.connected === null) return `Bound as ${bound.name}. Serve it with: agent-runtime run`;
  return bound.connected
    ? `Bound as ${bound.name}. Core sees it connected.`
    : `Bound as ${bound.name}. Core does not see it connected yet; it goes on trying. agent-runtime status says more.`;
}

/** The running Runtime where there is one, else this process. Another store is chosen only where it is bound, too. */
async function withEnroller(
  { paths, parsed, output }: CommandContext,
  store: 'keychain' | 'file' | null,
  use: (enroller: Enroller) => Promise<ExitCode>,
): Promise<ExitCode> {
  const client = await ControlClient.connect(paths.control).catch(() => null);
  if (!client) {
    return withEnrolments(
      { paths, version: AGENT_RUNTIME_VERSION, logLevel: parsed.logLevel },
      async (desk, credentials) => {
        await credentials.probe();
        return use({
          read: (request) => desk.read(request),
          confirm: async (id, name) => {
            if (store !== null) await credentials.choose(store === 'file' ? 'file' : 'retry');
            return desk.confirm(id, name);
          },
          close: (id) => Promise.resolve(desk.close(id)),
        });
      },
    );
  }
  try {
    return await use({
      read: (request) => client.call('enrol.read', request),
      confirm: async (id, name) => {
        if (store !== null)
          await client.call('credentials.choose', { choice: store === 'file' ? 'file' : 'retry' });
        output.message('Core is asked for up to 45 s whether it sees this machine.');
        return client.call('enrol.confirm', { id, name });
      },
      close: async (id) => void (await client.call('enrol.close', { id })),
    });
  } finally {
    client.close();
  }
}

async function sourceOf(parsed: Parsed): Promise<EnrolmentSource> {
  const text = (name: string): string | undefined => parsed.text(name);
  const [endpoint, grant, invitation] = [text('endpoint'), text('grant-file'), text('invitation-file')];
  const [remote, environment, credential] = [text('remote'), text('environment-id'), text('credential-file')];
  const byGrant = endpoint !== undefined || grant !== undefined;
  const byKey = remote !== undefined || environment !== undefined || credential !== undefined;
  if (Number(byGrant) + Number(byKey) + Number(invitation !== undefined) !== 1) {
    throw rejected(
      'usage',
      'Give an endpoint and a grant, or an invitation, or a credential file. See --help.',
    );
  }
  if (invitation !== undefined)
    return { kind: 'invitation', text: await readSecretText(invitation, 'invitation') };
  if (byGrant) {
    if (endpoint === undefined || grant === undefined)
      throw rejected('usage', '--endpoint and --grant-file go together.');
    return { kind: 'grant', endpoint, grant: await readSecretText(grant, 'grant') };
  }
  if (remote === undefined || environment === undefined || credential === undefined) {
    throw rejected('usage', '--remote, --environment-id and --credential-file go together.');
  }
  return {
    kind: 'credential',
    remote_url: remote,
    environment_id: environment,
    credential: await credentialText(credential),
  };
}

/** Standard input has no owner and no mode; a file does, and is refused where others can read it. */
export const credentialText = (file: string): Promise<string> =>
  file === '-' ? readSecretText(file, 'credential file') : credentialFileText(resolve(file));

function storeOf(parsed: Parsed): 'keychain' | 'file' | null {
  const store = parsed.text('store');
  if (store === undefined) return null;
  if (store !== 'keychain' && store !== 'file') throw rejected('usage', '--store is keychain or file.');
  return store;
}

function errorOf({ code, message }: { code: string; message: string }): RuntimeError {
  if (code === 'credential_store_unavailable') {
    return rejected(code, `${message} --store file does that: anybody who runs as you can read it.`);
  }
  return new RuntimeError('rejected', errorCodes.find((known) => known === code) ?? 'fault', message);
}
