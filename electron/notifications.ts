import { Notification } from 'electron';
import type { InteractionView, View } from '../src/contract/view.ts';
import type { Logger } from '../src/observe/logger.ts';

/**
 * Tells that an answer is needed: the kind of prompt and the binding, never a command, a path or a question's text.
 * Several at once become one, and a notification is taken back as soon as nothing needs it.
 */
export class PromptNotifications {
  readonly #open: (id: string | null) => void;
  readonly #logger: Logger;
  readonly #known = new Set<string>();
  #shown: { notification: Notification; ids: readonly string[] } | null = null;

  constructor(open: (id: string | null) => void, logger: Logger) {
    this.#open = open;
    this.#logger = logger;
  }

  update(view: View, options: { enabled: boolean; windowFocused: boolean }): void {
    const waiting = view.interactions.filter((prompt) => prompt.state === 'pending');
    const ids = new Set(waiting.map((prompt) => prompt.id));
    if (this.#shown && !this.#shown.ids.some((id) => ids.has(id))) this.#close();
    const fresh = waiting.filter((prompt) => !this.#known.has(prompt.id));
    for (const id of this.#known) if (!ids.has(id)) this.#known.delete(id);
    for (const prompt of fresh) this.#known.add(prompt.id);
    if (fresh.length === 0 || !options.enabled || options.windowFocused) return;
    this.#show(waiting);
  }

  #show(waiting: readonly InteractionView[]): void {
    this.#close();
    if (!Notification.isSupported()) return;
    const [first] = waiting;
    if (!first) return;
    const notification = new Notification(
      waiting.length === 1
        ? { title: `${first.binding} needs you`, body: bodyOf(first) }
        : { title: 'Agent Runtime', body: `${waiting.length} prompts need you` },
    );
    notification.on('click', () => this.#open(waiting.length === 1 ? first.id : null));
    notification.on('failed', () => this.#logger.info('notification.failed'));
    notification.show();
    this.#shown = { notification, ids: waiting.map((prompt) => prompt.id) };
  }

  #close(): void {
    this.#shown?.notification.close();
    this.#shown = null;
  }
}

export function bodyOf(prompt: InteractionView): string {
  if (prompt.kind === 'user_choice') {
    const count = prompt.questions.length;
    return count === 1 ? 'A question' : `${count} questions`;
  }
  switch (prompt.subject.kind) {
    case 'command':
      return 'A command waits for your answer';
    case 'file_change':
      return 'A file change waits for your answer';
    case 'network':
      return 'Access to a host waits for your answer';
    case 'tool':
    case 'question':
      return 'A tool call waits for your answer';
  }
}
