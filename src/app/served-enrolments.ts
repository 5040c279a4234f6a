import { Receipts, type BindingReceipt } from '../enrol/receipt.ts';
import type { Daemon } from './daemon.ts';
import { enrolledTarget } from './enrolled-binding.ts';
import { EnrolmentDesk } from './enrolments.ts';

/** Serves an enrolled binding. One that is served already and was enrolled again connects with its fresh key. */
export function serveEnrolled(daemon: Daemon, receipt: BindingReceipt): void {
  const known = daemon.bindings.get(receipt.name);
  if (known) return void (known.serving || daemon.reconnect(known));
  const { clock, credentials } = daemon.options;
  const { network, userAgent } = daemon;
  const register = (secret: string): void => daemon.redactor.register(secret);
  daemon.serve(enrolledTarget(receipt, { credentials, clock, network, userAgent, register }));
}

/** The enrolments of a running Runtime, which serves at once what is bound. */
export function enrolmentDeskOf(daemon: Daemon): EnrolmentDesk {
  const { clock, random, logger, credentials, paths } = daemon.options;
  return new EnrolmentDesk({
    clock,
    random,
    logger,
    credentials,
    userAgent: daemon.userAgent,
    network: daemon.network,
    receipts: new Receipts(paths.environments, random),
    state: paths.root,
    otherFolders: () => {
      const folders = new Map<string, string>();
      for (const { target } of daemon.bindings.values()) {
        if (!target.enrolled && target.workspace) folders.set(target.name, target.workspace.workspace);
      }
      return [...folders].map(([binding, folder]) => ({ binding, folder }));
    },
    register: (secret) => daemon.redactor.register(secret),
    serve: (receipt) => {
      serveEnrolled(daemon, receipt);
      return true;
    },
    unserve: (name) => daemon.unserve(name),
    forgetRules: (environmentId) => {
      daemon.rules.removeOf(environmentId);
      return daemon.rules.flushed();
    },
    restart: async (name) => {
      const bound = daemon.bindings.get(name);
      if (bound) await daemon.reconnect(bound);
    },
    onChange: () => daemon.publisher.changed(),
  });
}
