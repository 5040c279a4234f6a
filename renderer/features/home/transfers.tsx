import type { ReactElement } from 'react';
import type { TransferView } from '../../../src/contract/view.ts';
import { t } from '../../i18n/t.ts';
import { shownTransfers, transferLine } from '../../select/transfer-line.ts';
import { useAct, useNow, useServices, useView } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { StatusMark } from '../../ui/status-mark.tsx';

/** What Core reads, writes and prepares in the bound folders right now. Not shown while there is none. */
export function Transfers(): ReactElement | null {
  const { transfers } = useView();
  const shown = shownTransfers(transfers, useNow());
  if (shown.length === 0) return null;
  return (
    <section className="sec" aria-labelledby="h-transfers">
      <header>
        <h2 id="h-transfers">{t('transfers.title')}</h2>
        <span className="n">{shown.length}</span>
      </header>
      <ul className="card list">
        {shown.map((transfer) => (
          <TransferRow key={`${transfer.binding} ${transfer.kind} ${transfer.id}`} transfer={transfer} />
        ))}
      </ul>
    </section>
  );
}

function TransferRow({ transfer }: { readonly transfer: TransferView }): ReactElement {
  const { link } = useServices();
  const act = useAct();
  const line = transferLine(transfer, useNow());
  return (
    <li className="harn">
      <StatusMark mark={line.mark} />
      <div>
        <b>{line.what}</b>
        <p className="tnum">
          {transfer.binding} · {line.state} · {line.elapsed}
        </p>
      </div>
      <div className="acts">
        {line.stoppable ? (
          <Button
            kind="sm ghost"
            label={t('transfer.stop.label', { what: line.what })}
            onPress={() => act(() => link.call('transfer.stop', { id: transfer.id }))}
          >
            {t('transfer.stop')}
          </Button>
        ) : null}
      </div>
    </li>
  );
}
