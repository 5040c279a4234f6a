import * as z from 'zod';

/** What a person chooses in the window. */
export const settingsSchema = z.object({
  theme: z.enum(['system', 'light', 'dark']),
  language: z.enum(['system', 'en', 'de']),
  notifications: z.boolean(),
  start_minimised: z.boolean(),
  start_at_login: z.boolean(),
  keep_awake: z.boolean(),
  /** What quitting the desktop app does while Turns are open. */
  on_quit: z.enum(['ask', 'after_turns', 'now']),
  /** How other machines are reached: as the system says, directly, or through `proxy_url`. */
  proxy: z.enum(['system', 'none', 'manual']),
  /** `http://host:port` or `https://host:port`; never a user or a password. */
  proxy_url: z.string().max(2_048),
  /** The password to it is a secret of its own (`proxy.password`). */
  proxy_user: z.string().max(255),
  /** Path of a PEM file of authorities to trust beside the built-in ones; empty: none. */
  extra_ca: z.string().max(4_096),
  /** What happens when an agent asks. From the next Turn on: a Turn keeps what it began with. */
  policy: z.enum(['ask', 'accept_edits', 'unattended']),
  /** Who may answer. From the next prompt on. */
  answered_by: z.enum(['local', 'core', 'both']),
});
export type Settings = z.infer<typeof settingsSchema>;
export const defaultSettings: Settings = {
  theme: 'system',
  language: 'system',
  notifications: true,
  start_minimised: false,
  start_at_login: false,
  keep_awake: true,
  on_quit: 'ask',
  proxy: 'system',
  proxy_url: '',
  proxy_user: '',
  extra_ca: '',
  policy: 'ask',
  answered_by: 'both',
};

/** What is kept of them: what a person chose. The rest is as the configuration, or as above. */
export const chosenSettingsSchema = settingsSchema.partial();
export type ChosenSettings = z.infer<typeof chosenSettingsSchema>;
