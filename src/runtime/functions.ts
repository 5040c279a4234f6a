import type { SubmitResult } from '../harness/adapter.ts';
import { asError } from '../observe/errors.ts';
import type { FunctionResultPayload } from '../protocol/functions.ts';
import type { DecisionReceiptCode } from '../protocol/interactions.ts';
import { AppliedDecisions } from './applied.ts';
import { lazyFingerprint } from './fingerprint.ts';
import type { RuntimePorts, SendResult, Sender } from './ports.ts';
import { decided, sendReceipt } from './receipts.ts';
import type { Run } from './run.ts';

/** Results of functions the Harness called (wire 10, runtime-behaviour 2.16). Replay identity: Run, call, content. */
export class Functions {
  readonly #ports: RuntimePorts;
  readonly #sender: Sender;
  readonly #applied: AppliedDecisions;
  readonly #inFlight = new Map<string, { fingerprint: string; result: Promise<SubmitResult> }>();

  constructor(ports: RuntimePorts, sender: Sender, isActive: (runId: string) => boolean) {
    this.#ports = ports;
    this.#sender = sender;
    this.#applied = new AppliedDecisions(ports.clock, isActive);
  }

  receive(
    run: Run | undefined,
    runId: string,
    payload: FunctionResultPayload,
    trace: string | undefined,
  ): void {
    const { delivery_id: deliveryId } = payload;
    const receipt = (code: DecisionReceiptCode | null): Promise<SendResult> =>
      sendReceipt(this.#sender, runId, decided(deliveryId, code), trace);
    const reply = (code: DecisionReceiptCode | null): void => void receipt(code);
    const key = `${runId}\n${payload.call_id}`;
    const print = lazyFingerprint(() => ({ ...payload, delivery_id: undefined }));
    const replay = this.#applied.check(key, print);
    if (replay === 'same') return reply(null);
    if (replay === 'conflict') return reply('decision_conflict');
    if (run && (!run.published || !run.gateOpen)) return reply('not_ready');
    if (run && !run.executor.offered.probe.capabilities.function_tools) return reply('unsupported');
    if (!run) return reply('not_pending');
    if (!run.turn?.submitFunctionResult) return reply('contract_violation');
    const pending = this.#inFlight.get(key);
    if (pending && pending.fingerprint !== print()) return reply('decision_conflict');
    const result = pending?.result ?? this.#submit(run, payload, key, print());
    void run.join(result.then((settled) => receipt(receiptCode(settled))));
  }

  #submit(run: Run, payload: FunctionResultPayload, key: string, print: string): Promise<SubmitResult> {
    const result = (async (): Promise<SubmitResult> => {
      try {
        const { success, content } = payload;
        return (
          (await run.turn?.submitFunctionResult?.(payload.call_id, { success, content })) ?? 'unsupported'
        );
      } catch (error) {
        this.#ports.logger.warn('function.submit_threw', { run: run.id, error: asError(error).name });
        return 'failed';
      } finally {
        this.#inFlight.delete(key);
      }
    })();
    this.#inFlight.set(key, { fingerprint: print, result });
    void result.then((settled) => {
      if (settled === 'applied') this.#applied.remember(key, print, run.id);
    });
    return result;
  }
}

function receiptCode(result: SubmitResult): DecisionReceiptCode | null {
  switch (result) {
    case 'applied':
      return null;
    case 'not_pending':
      return 'not_pending';
    case 'unsupported':
      return 'contract_violation';
    case 'failed':
      return 'runtime_error';
  }
}
