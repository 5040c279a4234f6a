import { awaitingPerson } from '../src/contract/awaiting.ts';
import type { Show } from '../src/contract/channels.ts';
import type { BindingView, InteractionView, View } from '../src/contract/view.ts';
import type { Logger } from '../src/observe/logger.ts';
import type { Note, Notifier } from './notifier.ts';
import { words } from './words.ts';

/** A lost connection is told after this long. Milliseconds. */
const OFFLINE_AFTER = 120_000;
/** A button that has just appeared under the pointer decides nothing. Milliseconds. */
const NO_ACTION_BEFORE = 500;

interface Actions {
  open(what: Show): void;
  deny(id: string): void;
}

/** Something to tell once, until it is over. */
interface Told {
  readonly key: string;
  readonly title: string;
  readonly body: string;
  readonly show: Show;
}

interface Shown {
  readonly ids: readonly string[];
  readonly text: string;
  close(): void;
}

/**
 * Tells that an answer is needed: the kind of prompt and the binding, never a command, a path or a question's text.
 * Several at once become one, and a notification is taken back as soon as nothing needs it. Tells also of a binding
 * that is parked or long offline, and of what did not settle.
 */
export class Notifications {
  readonly #notifier: Notifier;
  readonly #actions: Actions;
  readonly #logger: Logger;
  readonly #now: () => number;
  /** Prompts that were told of, or that the person had before their eyes. */
  readonly #known = new Set<string>();
  #prompts: Shown | null = null;
  readonly #told = new Map<string, { close(): void } | null>();

  constructor(options: { notifier: Notifier; actions: Actions; logger: Logger; now: () => number }) {
    this.#notifier = options.notifier;
    this.#actions = options.actions;
    this.#logger = options.logger;
    this.#now = options.now;
  }

  update(view: View, options: { enabled: boolean; windowFocused: boolean }): void {
    const quiet = !options.enabled || options.windowFocused;
    this.#updatePrompts(view, quiet);
    const current = thingsToTell(view, this.#now());
    const keys = new Set(current.map(({ key }) => key));
    for (const [key, shown] of this.#told) {
      if (keys.has(key)) continue;
      shown?.close();
      this.#told.delete(key);
    }
    for (const thing of current) {
      if (this.#told.has(thing.key)) continue;
      const note = { title: thing.title, body: thing.body, deny: null, quiet: false };
      this.#told.set(thing.key, quiet ? null : this.#show(note, thing.show));
    }
  }

  #updatePrompts(view: View, quiet: boolean): void {
    const waiting = awaitingPerson(view).filter((prompt) => prompt.state === 'pending');
    const ids = new Set(waiting.map((prompt) => prompt.id));
    const fresh = waiting.some((prompt) => !this.#known.has(prompt.id));
    for (const id of this.#known) if (!ids.has(id)) this.#known.delete(id);
    for (const id of ids) this.#known.add(id);
    const [first] = waiting;
    const left = this.#prompts?.ids.some((id) => ids.has(id)) ?? false;
    if (!first || !left) this.#takeBack();
    if (!first) return;
    // What is shown and no longer true is said anew, without a sound; what is new is told.
    const text = JSON.stringify(waiting.length === 1 ? first.id : waiting.length);
    const stale = this.#prompts !== null && this.#prompts.text !== text;
    if (!stale && (!fresh || quiet)) return;
    this.#takeBack();
    const one = waiting.length === 1;
    const note = one ? noteOf(first, this.#now()) : { ...several(waiting.length), deny: null };
    const shown = this.#show(
      { ...note, quiet: !fresh },
      one ? { screen: 'prompt', id: first.id } : { screen: 'home' },
    );
    this.#prompts = { ids: [...ids], text, close: () => shown.close() };
  }

  #show(note: Note, what: Show): { close(): void } {
    const since = this.#now();
    return this.#notifier.show(note, {
      open: () => this.#actions.open(what),
      deny: (id) => {
        if (this.#now() - since >= NO_ACTION_BEFORE) this.#actions.deny(id);
      },
      failed: () => this.#logger.info('notification.failed'),
    });
  }

  #takeBack(): void {
    this.#prompts?.close();
    this.#prompts = null;
  }
}

const several = (count: number): { title: string; body: string } => ({
  title: 'Agent Runtime',
  body: words().prompts(count),
});

/** The words for one prompt, and whether it can be denied from outside the window. */
export function noteOf(prompt: InteractionView, now: number): Omit<Note, 'quiet'> {
  const left = prompt.expires_at === null ? null : Math.ceil((Date.parse(prompt.expires_at) - now) / 60_000);
  const expires = left === null || left < 1 ? '' : words().note.expires(left);
  return {
    title: words().note.needsYou(prompt.binding),
    body: `${bodyOf(prompt)}${expires}`,
    deny: prompt.kind === 'permission' && prompt.answerable ? prompt.id : null,
  };
}

export function bodyOf(prompt: InteractionView): string {
  const { note } = words();
  return prompt.kind === 'user_choice'
    ? note.questions(prompt.questions.length)
    : note.subject[prompt.subject.kind];
}

/** What is told beside prompts. Reasons come from our own list: a sentence may name a host. */
function thingsToTell(view: View, now: number): Told[] {
  const bindings = view.bindings.flatMap((binding) => bindingToTell(binding, now) ?? []);
  const unsettled = view.cleanup.some((item) => item.state === 'unconfirmed');
  if (!unsettled) return bindings;
  return [
    ...bindings,
    {
      key: 'cleanup',
      title: words().note.unsettled,
      body: words().note.unsettledText,
      show: { screen: 'home' },
    },
  ];
}

function bindingToTell({ name, connection }: BindingView, now: number): Told | null {
  if (connection.state === 'parked') {
    return {
      key: `parked ${name}`,
      title: words().note.parked(name),
      body: words().note.parkedWhy(connection.reason_code),
      show: { screen: 'settings' },
    };
  }
  if (connection.state === 'serving' || connection.state === 'stopped' || connection.state === 'suspended')
    return null;
  const since = connection.lost_at ?? (connection.state === 'waiting' ? connection.since : null);
  if (since === null || now - Date.parse(since) < OFFLINE_AFTER) return null;
  return {
    key: `offline ${name}`,
    title: words().note.offline(name),
    body: words().note.offlineText,
    show: { screen: 'home' },
  };
}
