import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Untrusted } from "./untrusted.tsx";
import { Empty } from "./views/empty.tsx";
import { Failure } from "./views/failure.tsx";
import { signal, type ReadonlySignal } from "@preact/signals";
import type { PreviewRow } from "../operations/previews-contract.ts";
import { ask, poll, type ApiFailure } from "./ask.ts";

/**
 * What a preview's page may do: run at its own origin, which is never this page's. It cannot navigate this page, open
 * dialogs or download.
 */
const rights = "allow-scripts allow-same-origin allow-forms allow-popups";

/** A preview in a frame, and where it is. */
export function PreviewView({ id }: { readonly id: string }): VNode {
  const watched = useMemo(() => watchPreview(id), [id]);
  useEffect(() => watched.stop, [watched]);
  const [loads, setLoads] = useState(0);
  const { row, failure } = watched.state.value;
  if (row === null) {
    return failure === null ? <Empty icon="clock" title="Looking for the preview" /> : <Failure failure={failure} />;
  }
  const address = pageAddress(row.url);
  const isShown = row.status === "running" && address !== null;
  return (
    <div class="preview">
      <div class="preview-bar">
        <button type="button" class="chip" disabled={!isShown} onClick={() => setLoads(loads + 1)}>
          Reload
        </button>
        <code class="preview-address">{row.url === "" ? "no address yet" : row.url}</code>
        {address !== null && (
          <a class="chip" href={address} target="_blank" rel="noopener noreferrer">
            Open in a tab
          </a>
        )}
      </div>
      {isShown ? (
        <iframe
          key={loads}
          class="preview-page"
          title="The preview's page"
          src={address}
          sandbox={rights}
          referrerpolicy="no-referrer"
          allow=""
        />
      ) : (
        <Empty
          icon={row.status === "error" ? "warning" : "clock"}
          title={row.status === "error" ? "It does not answer" : "Starting"}
        >
          {row.error !== undefined && (
            <p>
              <Untrusted text={row.error.message} max={600} />
            </p>
          )}
          <p>Its log tells more.</p>
        </Empty>
      )}
    </div>
  );
}

/** An address that a frame or a link may have: a page of another origin than this one's; null for everything else. */
export function pageAddress(text: string, own: string = location.origin): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, origin, href } = new URL(text);
  return /^https?:$/.test(protocol) && origin !== own ? href : null;
}

interface PreviewState {
  /** Null: not known yet. */
  readonly row: PreviewRow | null;
  readonly failure: ApiFailure | null;
}

const eachMs = 3_000;

/** Follows a preview until the returned function is called. */
function watchPreview(id: string): { readonly state: ReadonlySignal<PreviewState>; readonly stop: () => void } {
  const state = signal<PreviewState>({ row: null, failure: null });
  const stop = poll(
    async (abort) => {
      const row = await ask<PreviewRow>("GET", `/api/sandbox/preview/${encodeURIComponent(id)}`, { signal: abort });
      if (!abort.aborted) state.value = { row, failure: null };
      return false;
    },
    {
      eachMs,
      onFailure: (failure) => {
        if (failure !== null) state.value = { ...state.value, failure };
      },
    },
  );
  return { state, stop };
}
