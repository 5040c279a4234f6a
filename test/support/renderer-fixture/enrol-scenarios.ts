import type { EnrolmentView } from '../../../src/contract/enrolment.ts';
import type { View } from '../../../src/contract/view.ts';
import { ago, ahead, binding, connection, view } from './samples.ts';

/** An enrolment as it is just before the person confirms it. */
export const enrolment = (over: Partial<EnrolmentView> = {}): EnrolmentView => ({
  id: 'enrolment-1',
  way: 'grant',
  state: 'review',
  step: null,
  host: 'core.example.com',
  encrypted: true,
  environment_id: '5f0c8a52-6a38-4d5e-9d0d-0d9f4b7fa91e',
  core_version: '2026.11.1',
  harness: 'claude_sdk',
  expires_at: ahead(534),
  name: 'handbook',
  folder_frozen: true,
  folder: {
    asked: '/home/user/projects/docs-site/handbook',
    path: '/home/user/projects/docs-site/handbook',
    exists: true,
    writable: true,
    free_bytes: 41_300_000_000,
    refusal: null,
    overlaps: [{ binding: 'docs-site', how: 'inside' }],
  },
  credential_store: 'keychain',
  connected: null,
  error: null,
  ...over,
});

const noStore: View['health'][number] = {
  code: 'credential_store_unavailable',
  severity: 'error',
  since: ago(30),
  text: 'There is no system keychain here.',
  next: 'Unlock or start the system keychain and try again.',
};
const open = (over: Partial<EnrolmentView> = {}, rest: Partial<View> = {}) => ({
  view: view({ enrolments: [enrolment(over)], ...rest }),
  hash: '#/enrol/enrolment-1',
});
const folder = enrolment().folder;

/** The enrol screen in each of its states, and what Settings shows of bindings. */
export const enrolScenarios = {
  enrol: { view: view(), hash: '#/enrol' },
  'enrol-check': open(),
  'enrol-refused': open({
    folder: folder && {
      ...folder,
      asked: '/home/user',
      path: '/home/user',
      overlaps: [],
      refusal: 'Your home folder itself cannot be bound. Choose a folder in it.',
    },
  }),
  'enrol-made': open({
    encrypted: false,
    host: '127.0.0.1:41234',
    harness: null,
    folder: folder && {
      ...folder,
      exists: false,
      asked: '/home/user/link/new',
      path: '/home/user/projects/new',
      overlaps: [],
    },
  }),
  'enrol-key-check': open({
    way: 'credential',
    expires_at: null,
    folder_frozen: false,
    folder: null,
    core_version: null,
    harness: null,
    name: '5f0c8a52-6a38-4d5e-9d0d-0d9f4b7fa91e',
  }),
  'enrol-no-store': open({ credential_store: null }, { health: [noStore], credential_store: null }),
  'enrol-name': open({
    state: 'failed',
    step: 'folder',
    error: {
      code: 'conflict',
      message: 'There is a binding named handbook already. Choose another name.',
    },
  }),
  'enrol-working': open({ state: 'working', step: 'claim' }),
  'enrol-connecting': open({ state: 'connecting' }),
  'enrol-failed': open({
    state: 'failed',
    step: 'claim',
    error: {
      code: 'other_key_bound',
      message:
        'This Environment already has a key: another one, or one that was rotated or revoked. An invitation never replaces it. Ask whoever runs this Core to rotate the key, and enrol with its file.',
    },
  }),
  'enrol-bound': open({ state: 'bound', connected: true }),
  'enrol-not-seen': open({ state: 'bound', connected: false }),
  'settings-parked': {
    view: view({
      bindings: [
        binding('billing-service', {
          connection: connection({
            state: 'parked',
            reason_code: 'credential_rejected',
            reason: 'Core rejected the credential.',
          }),
        }),
        binding('docs-site', {
          connection: connection({
            state: 'parked',
            reason_code: 'other_key_bound',
            reason:
              'Another key is bound to this Environment. Rotate that key instead of using a second one.',
          }),
        }),
        binding('mobile-app', {
          connection: connection({ state: 'parked', reason_code: 'binding_retired', reason: 'Retired.' }),
        }),
        binding('handbook', {
          connection: connection({
            state: 'waiting',
            reason_code: 'credential_store_unavailable',
            reason: 'The credential store did not answer. The credential was neither read nor changed.',
            next_attempt_at: ahead(20),
          }),
        }),
      ],
      health: [noStore],
      credential_store: null,
    }),
    hash: '#/settings/bindings',
  },
};
