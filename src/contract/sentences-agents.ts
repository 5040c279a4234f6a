import type { Sentence } from './sentences.ts';

/** What is said of agents, Turns, prompts and input. Part of `sentences`. */
export const agentSentences = {
  // Agents on this machine
  'said.agent.named': '{agent}: {why}',
  'said.agent.not_available': '{agent}: not available',
  'said.agent.missing': '{agent} was not found.',
  'said.agent.missing_there': '{agent} was not found at the configured place.',
  'said.agent.install_or_name': 'Install it, or name its program in the configuration.',
  'said.agent.install': 'Install it and try again.',
  'said.agent.silent.claude':
    'A Claude Code is there but does not answer. Run "claude --version" in a terminal.',
  'said.agent.silent.codex': 'A Codex is there but does not answer. Run "codex --version" in a terminal.',
  'said.agent.old.claude':
    'This Claude Code is too old for this app. Update Claude Code (run "claude update").',
  'said.agent.signed_out.claude': 'Claude Code is not signed in. Run "claude auth login" in a terminal.',
  'said.agent.signed_out.codex': 'Codex is not signed in. Run "codex login" in a terminal.',
  'said.agent.signed_out': '{agent} is not signed in. Start it in a terminal and sign in there.',
  'said.agent.no_start.claude':
    'Claude Code could not be started. Run "claude" in a terminal and look what it says.',
  'said.agent.no_start.codex': 'Codex could not be started. Run "codex" in a terminal and look what it says.',
  'said.agent.no_start.try': '{agent} could not be started. Try it in a terminal.',
  'said.agent.no_start': '{agent} could not be started.',
  'said.agent.odd_start.claude':
    'Claude Code did not start as expected. Run "claude" in a terminal and look what it says.',
  'said.agent.odd_start.codex':
    'Codex did not start as expected. Run "codex" in a terminal and look what it says.',
  'said.agent.odd_start': '{agent} did not start as expected.',
  'said.agent.no_mode': '{agent} has no mode that is known to ask before it acts.',
  'said.agent.looking': 'Looking for {agent}.',
  'said.agent.looking_failed': 'Looking for {agent} failed. Look at the log.',
  'said.agent.no_answer': '{agent} does not answer.',
  'said.agent.no_answer.try': '{agent} does not answer. Try it in a terminal.',
  'said.agent.ended.try': '{agent} ended by itself. Try it in a terminal.',
  'said.agent.no_reason': 'It gave no reason.',
  'said.agent.no_state_folder': 'Its folder in the state folder could not be made. Check the state folder.',
  'said.agent.program': '{agent} could not be started. Check that its program is installed.',
  'said.agent.no_folder': 'The folder this should work in is not there. Check it and try again.',
  'said.agent.ledger': 'The list of started programs could not be written. Check the disk and try again.',
  'said.agent.needs_folder': 'This agent needs a folder to work in.',
  'said.agent.demo':
    'A demo without a model: it streams text, asks one question and one permission, and writes one file.',

  // Why a Turn did not start
  'said.start.stopped': 'It was stopped before it started. Nothing was submitted.',
  'said.start.restarted':
    'The app ended before the end of this Turn was observed. It will not run again by itself.',
  'said.start.preparation': 'The agent could not be started. Doctor and the log say more.',
  'said.start.closing': 'The agent of this Session is still being ended. See what has not settled.',
  'said.start.lost': 'The connection was lost before it started. Nothing was submitted.',
  'said.start.unsupported': 'This agent does not support what the Session asks for.',
  'said.start.version': 'This agent cannot be prepared by this version of the app.',
  'said.start.no_folder': 'This agent does not work in a bound folder.',

  'said.start.code': 'It did not start: {code}.',

  // How a Turn ended
  'said.turn.lost':
    'The connection ended before the end of this Turn was observed. It will not run again by itself.',
  'said.turn.core_stops': 'Core asked this app to end its work.',
  'said.turn.no_end': 'The agent did not confirm the end of this Turn. Its process was ended.',
  'said.turn.start_failed': 'Starting the Turn failed. What it did is not known.',
  'said.turn.not_prepared': 'The agent could not be prepared. Nothing was submitted to it.',
  'said.turn.not_taken': 'The agent did not take the Turn. Nothing was submitted to it.',
  'said.turn.went_on': 'The agent went on after it said it was done.',
  'said.turn.stopped_early': 'The agent stopped without saying that it was done.',
  'said.turn.too_large': 'The agent wrote something larger than a frame can carry. The Turn was ended.',
  'said.turn.cut': 'An output was too large for one frame. Core was sent its beginning and its end.',
  'said.turn.ended_in_work': 'The agent ended in the middle of its work.',
  'said.turn.no_answer': 'The agent gave no answer.',
  'said.turn.failed': 'The agent failed.',
  'said.turn.stopped': 'The agent stopped before it was done.',
  'said.turn.max_tokens': 'The agent reached the limit of its answer.',
  'said.turn.max_requests': 'The agent reached its limit of requests in one Turn.',
  'said.turn.refusal': 'The agent refused to go on.',
  'said.turn.unknown_stop': 'The agent stopped for a reason that is not known.',
  'said.turn.ended_with_error': '{agent} ended this Turn with an error.',
  'said.turn.broke_off': 'Codex broke this Turn off.',
  'said.turn.form': 'The answer does not have the form that was asked for.',
  'said.turn.form.claude': 'Claude Code gave no answer of the form that was asked for.',
  'said.turn.demo': 'The demo failed. This is a fault of this app.',
  'said.turn.unconfirmed': '{agent} did not confirm the end of this Turn',
  'said.turn.command_runs': 'a command of the stopped Turn may still run',
  'said.program.silent': '{agent} stopped talking.',
  'said.program.unhandled': '{agent} sent something that could not be handled.',
  'said.program.too_large': '{agent} sent a message that is too large.',
  'said.program.unknown': '{agent} sent something this app does not understand. Update this app.',
  'said.program.ended': '{agent} ended before it answered.',
  'said.program.timeout': '{agent} did not answer in time.',

  // Notices in the output
  'said.notice.shortened': '{agent} shortened the conversation to make room.',
  'said.notice.model': 'Codex goes on with another model: {model}.',
  'said.notice.mcp': 'The MCP server {name} could not be started. Codex works without it.',
  'said.notice.mcp_asked': 'The MCP server {name} asked something that this app cannot show. It was told no.',
  'said.notice.reason': 'Codex did not take your reason for the refusal.',

  // What became of input while a Turn runs
  'said.input.not_read': 'the Turn ended before the input was read',
  'said.input.not_used': 'the Turn ended before the input was used',
  'said.input.not_consumed': 'the Turn ended before the input was consumed',
  'said.input.not_shown': 'the Turn ended before the agent showed that it took the input',
  'said.input.no_word': 'Codex did not say whether it took the input',
  'said.input.late': 'Codex did not take the input in time',
  'said.input.write': 'write timed out',
  'said.input.receipt': 'receipt not delivered',
  'said.input.timeout': 'timed out',

  // How a prompt ended
  'said.prompt.taken_back': 'The agent took the request back.',
  'said.prompt.no_longer': 'The agent no longer waited for this answer. Nothing was decided by it.',
  'said.prompt.turn_ended': 'The Turn ended before it was answered.',
  'said.prompt.nothing': 'Nothing was allowed or denied.',
  'said.prompt.turn_gone': 'The Turn was recorded as gone.',
  'said.prompt.told_reason': 'The agent was told your reason.',
  'said.prompt.nobody': 'The agent was told that nobody answered, not that you denied.',
  'said.prompt.declined': 'The agent was told that you declined to answer.',
  'said.prompt.rule': 'Rule for {match}, made {day}.',
  'said.prompt.question': 'Answer a question',
  'said.prompt.questions': 'Answer {count} questions',
} as const satisfies Readonly<Record<string, Sentence>>;
