import type { RefObject, VNode } from "preact";
import { useState } from "preact/hooks";
import { ApiFailure } from "../api/api-failure.ts";
import { endRun } from "../api/run-state.ts";
import { goTo, route } from "../route.ts";
import { Untrusted } from "../text/untrusted.tsx";
import { Failure } from "./runs/failure.tsx";

interface EndDialogProps {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  readonly id: string;
  /** What it is, for people. */
  readonly title: string;
  readonly isPreview: boolean;
}

/** Asks before a run or a sandbox is ended. */
export function EndDialog({ dialog, id, title, isPreview }: EndDialogProps): VNode {
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isEnding, setEnding] = useState(false);
  const end = async (): Promise<void> => {
    setEnding(true);
    setFailure(null);
    try {
      await endRun(id, isPreview);
      dialog.current?.close();
      goTo({ section: route.value.section });
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      setFailure(error);
    } finally {
      setEnding(false);
    }
  };
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="end-title">
      <h2 id="end-title">
        End this <Untrusted text={title.toLowerCase()} max={80} />?
      </h2>
      <p>
        Everything that runs in{" "}
        <code>
          <Untrusted text={id} max={100} />
        </code>{" "}
        is ended, and its sandbox is removed with its files.
      </p>
      <Failure failure={failure} />
      <div class="dialog-buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Keep it
        </button>
        <button type="button" class="danger solid" disabled={isEnding} onClick={() => void end()}>
          {isEnding ? "Ending" : "End it"}
        </button>
      </div>
    </dialog>
  );
}
