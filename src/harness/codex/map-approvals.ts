import { resolve } from 'node:path';

import type { NativeFileChange, NativePermission, NativeSubject, PermissionAnswer } from '../adapter.ts';
import { unifiedDiff } from '../unified-diff.ts';
import { placeOf } from '../workspace-file.ts';
import type {
  CommandApproval,
  Elicitation,
  FileApproval,
  FileUpdate,
  PermissionsApproval,
} from './native-types.ts';
import { innerCommand } from './shell-words.ts';

/** A native request larger than this is described in its payload instead of being repeated, UTF-16 units of JSON. */
const PAYLOAD_LIMIT = 256 * 1024;
const TITLE_LIMIT = 200;

/** A request for permission with the answers that mean yes and no. */
export interface MappedPermission {
  readonly permission: NativePermission;
  readonly reply: (answer: PermissionAnswer) => unknown;
}

const decision = (answer: PermissionAnswer): unknown => ({
  decision: answer.kind === 'allow' ? 'accept' : 'decline',
});

/** A command, the network access of one, or what is to be typed into one that runs. */
export function mapCommand(key: string, request: CommandApproval): MappedPermission {
  if (request.kind === 'writeStdin') return mapTyping(key, request);
  const network = request.networkApprovalContext;
  const command = request.command ? innerCommand(request.command) : null;
  const subject: NativeSubject = network
    ? { kind: 'network', host: network.host, port: null, protocol: network.protocol }
    : command !== null
      ? { kind: 'command', command, cwd: request.cwd ?? null }
      : { kind: 'tool', name: 'command', server: null, input: { actions: request.commandActions ?? [] } };
  const title = network ? `Connect to ${network.host}` : (command ?? 'Run a command');
  return {
    permission: permission(key, 'Bash', title, request, subject, {
      // A command that is to leave the sandbox has a reason and differs in nothing else; it is another request.
      ...(request.reason ? { has_reason: true } : {}),
      ...(request.command ? { command: request.command } : {}),
      ...(request.cwd ? { cwd: request.cwd } : {}),
      ...(network ? { network } : {}),
      ...(request.additionalPermissions ? { additional_permissions: request.additionalPermissions } : {}),
    }),
    reply: decision,
  };
}

/** Not shown as a command: what is typed goes to a program whose state nobody here knows. */
function mapTyping(key: string, request: CommandApproval): MappedPermission {
  const input = { typed: request.command ?? '', cwd: request.cwd ?? null };
  const subject: NativeSubject = { kind: 'tool', name: 'write_stdin', server: null, input };
  const title = `Type into a running command: ${request.command ?? ''}`;
  return { permission: permission(key, 'write_stdin', title, request, subject, input), reply: decision };
}

/** A file change with its diff. `grantRoot` asks for a whole folder, so it is named first. */
export async function mapFileChange(
  key: string,
  request: FileApproval,
  changes: readonly FileUpdate[],
  workspace: string | null,
): Promise<MappedPermission> {
  const shown = await Promise.all(changes.map((change) => changeOf(change, workspace)));
  const verbs = { add: 'Create', update: 'Change', delete: 'Delete' } as const;
  const list = shown.map((change) => `${verbs[change.kind]} ${change.path}`).join(', ') || 'Change files';
  const title = request.grantRoot ? `Write in ${request.grantRoot}: ${list}` : list;
  return {
    permission: permission(
      key,
      'Edit',
      title,
      request,
      { kind: 'file_change', changes: shown },
      {
        changes,
        ...(request.grantRoot ? { grant_root: request.grantRoot } : {}),
      },
    ),
    reply: decision,
  };
}

/** More access than the sandbox gives. What was asked for is granted whole and for this Turn alone, or not at all. */
export function mapPermissions(key: string, request: PermissionsApproval): MappedPermission {
  const asked = present(request.permissions);
  const input = { permissions: asked, cwd: request.cwd };
  const subject: NativeSubject = { kind: 'tool', name: 'request_permissions', server: null, input };
  return {
    permission: permission(key, 'request_permissions', 'Wider access', request, subject, input),
    reply: (answer) => ({ permissions: answer.kind === 'allow' ? asked : {}, scope: 'turn' }),
  };
}

/** A call of an MCP tool, which the program asks about in the form of an empty question. */
export function mapMcpCall(key: string, request: Elicitation): MappedPermission {
  const meta = asObject(request._meta);
  const tool = typeof meta['tool_name'] === 'string' ? meta['tool_name'] : 'tool';
  const input = meta['tool_params'] ?? {};
  const name = `mcp__${request.serverName}__${tool}`;
  const subject: NativeSubject = { kind: 'tool', name: tool, server: request.serverName, input };
  return {
    permission: permission(key, name, `${request.serverName}: ${tool}`, {}, subject, {
      server: request.serverName,
      tool,
      input,
    }),
    reply: (answer) =>
      answer.kind === 'allow'
        ? { action: 'accept', content: {}, _meta: null }
        : { action: 'decline', content: null, _meta: null },
  };
}

/** Whether an elicitation is the program's own question about a tool call and not one of the server. */
export const isMcpApproval = (request: Elicitation): boolean =>
  asObject(request._meta)['codex_approval_kind'] === 'mcp_tool_call';

function permission(
  key: string,
  tool: string,
  title: string,
  request: { readonly itemId?: string; readonly reason?: string | null | undefined },
  subject: NativeSubject,
  /** What would be done. */
  input: Readonly<Record<string, unknown>>,
): NativePermission {
  const fits = JSON.stringify(input).length <= PAYLOAD_LIMIT;
  const item = request.itemId === undefined ? {} : { item_id: request.itemId };
  return {
    key,
    tool,
    title: firstLine(title),
    reason: request.reason || null,
    subject,
    payload: { ...item, ...(fits ? input : { input_omitted: 'too large' }) },
    input,
    expiresInMs: null,
  };
}

async function changeOf(change: FileUpdate, workspace: string | null): Promise<NativeFileChange> {
  const place = await placeOf(workspace, change.path);
  const moved = change.kind.move_path
    ? await placeOf(workspace, resolve(workspace ?? '/', change.kind.move_path))
    : null;
  const kind = change.kind.type === 'add' || change.kind.type === 'delete' ? change.kind.type : 'update';
  return {
    path: moved ? `${place.shown} → ${moved.shown}` : place.shown,
    kind,
    // A new or removed file comes as its bare text.
    diff:
      kind === 'add'
        ? unifiedDiff('', change.diff)
        : kind === 'delete'
          ? unifiedDiff(change.diff, '')
          : change.diff,
    insideWorkspace: place.inside && (moved?.inside ?? true),
  };
}

function firstLine(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  const more = line.length < text.length || line.length > TITLE_LIMIT;
  return more ? `${line.slice(0, TITLE_LIMIT)} …` : line;
}

/** Members that say something. */
function present(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== null && member !== undefined),
  );
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
