import type { InvitationFault } from '../enrol/invitation.ts';
import type { EnrolProblem } from '../enrol/enrolment-state.ts';
import { rejected, type ErrorCode, type RuntimeError } from '../observe/errors.ts';
import type { Failure, FailureCode } from '../observe/failure.ts';
import { failureSentence } from './connection-words.ts';

/** Why a text is no invitation, and what to do. None of them repeats the text. */
export const invitationSentences: Readonly<Record<InvitationFault, string>> = {
  too_long: 'This is longer than an invitation can be. Paste the install command alone.',
  no_endpoint:
    'There is no address of a Core in it. Paste the whole install command, as its Session shows it.',
  bad_endpoint:
    'The address must be https (http on this machine only), without a user, a query or anything after it.',
  several_endpoints: 'There is more than one Core in it. Paste one install command alone.',
  no_grant: 'There is no code in it. Paste the whole install command, as its Session shows it.',
  bad_grant: 'The code in it is not one. Paste the whole install command, as its Session shows it.',
  several_grants: 'There is more than one code in it. Paste one install command alone.',
};

/** What stopped an enrolment, as one error with a sentence for a person. */
export function problemError(problem: EnrolProblem, host: string): RuntimeError {
  switch (problem.of) {
    case 'here':
      return problem.error;
    case 'connection':
      return failureError(problem.failure, host);
    case 'grant':
      switch (problem.code) {
        case 'invitation_invalid':
          return rejected(
            'invitation_rejected',
            'Core does not take this invitation any more: it lasts 30 minutes and ends when its Session is deleted or Core is updated. Fetch a fresh command.',
          );
        case 'key_exists':
          return rejected(
            'other_key_bound',
            'This Environment already has a key: another one, or one that was rotated or revoked. An invitation never replaces it. Ask whoever runs this Core to rotate the key, and enrol with its file.',
          );
        case 'installers_missing':
          return rejected(
            'not_available',
            'This Core cannot take machines now: it has no installers for them or no place for keys. Ask whoever runs it.',
          );
        case 'secret_refused':
          return rejected(
            'unsupported',
            'Core did not take the form of the key that this app made. Update the app.',
          );
      }
  }
}

const codes: Partial<Record<FailureCode, ErrorCode>> = {
  incompatible_version: 'incompatible_version',
  credential_rejected: 'credential_rejected',
  other_key_bound: 'other_key_bound',
  binding_mismatch: 'binding_mismatch',
  timeout: 'timeout',
};

export function failureError(failure: Failure, host: string): RuntimeError {
  const code = codes[failure.code] ?? 'network';
  const text =
    failure.code === 'credential_rejected'
      ? 'Core refused this key: it was revoked or replaced, or its Session is gone. Ask whoever runs this Core for a fresh one.'
      : failureSentence(failure, host);
  return rejected(code, text);
}
