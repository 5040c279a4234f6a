import type { Frame } from '../protocol/codec.ts';
import { isBlank, isBoundedId, isCanonicalUuid } from '../protocol/ids.ts';
import { CORRELATION_ID_BYTES } from '../protocol/limits.ts';
import type { CoreFrameType } from '../protocol/registry.ts';
import { utf8Length } from '../protocol/utf8.ts';
import { budgets } from './limits.ts';
import type { RuntimeFrame, Sender } from './ports.ts';

/**
 * Families this Runtime does not serve in this composition: each gets its family's own definite refusal, so that Core
 * never waits for something that cannot come. Nothing of it is declared in a heartbeat either. The rules on ids hold
 * all the same: what must not be echoed gets no answer (false).
 */
export function refuseUnserved(sender: Sender, frame: Frame<CoreFrameType>): boolean {
  const reply = (answer: RuntimeFrame): true => {
    void sender.send({ ...answer, id: frame.id, trace: frame.trace }, budgets.receiptSend);
    return true;
  };
  switch (frame.type) {
    case 'workspace_read':
      if (utf8Length(frame.id) > CORRELATION_ID_BYTES) return false;
      return reply({
        type: 'workspace_read_result',
        payload: {
          outcome: 'rejected',
          error_code: isBlank(frame.id) ? 'invalid_request' : 'read_unsupported',
        },
      });
    case 'workspace_write':
      if (!isCanonicalUuid(frame.id)) return false;
      return reply({
        type: 'workspace_write_result',
        payload: { outcome: 'rejected', error_code: 'write_unsupported' },
      });
    case 'workspace_export':
      if (!isBoundedId(frame.id, CORRELATION_ID_BYTES)) return false;
      if (frame.payload.step === 'cancel') return true;
      return reply({
        type: 'workspace_export_result',
        payload: { outcome: 'rejected', offset: 0, error_code: 'resource_unavailable' },
      });
    case 'runtime_prepare':
      if (!isCanonicalUuid(frame.id)) return false;
      return reply({
        type: 'runtime_prepare_result',
        payload: { outcome: 'rejected', error_code: 'runtime_preparation_unsupported' },
      });
    default:
      return false;
  }
}
