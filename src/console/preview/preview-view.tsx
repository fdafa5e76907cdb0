import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Untrusted } from "../text/untrusted.tsx";
import { Empty } from "../views/empty.tsx";
import { Failure } from "../views/runs/failure.tsx";
import { pageAddress } from "./page-address.ts";
import { watchPreview } from "./watch-preview.ts";

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
