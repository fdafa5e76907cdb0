import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import type { SandboxStateAnswer } from "../../../operations/sandboxes/sandbox-state-schema.ts";
import { running } from "../../api/lists.ts";
import { addressOf, route } from "../../route.ts";
import { durationText } from "../../text/amounts.ts";
import { Badge, LiveDot } from "../badge.tsx";
import { EndDialog } from "../end-dialog.tsx";
import { Icon } from "../icon.tsx";
import { Labels } from "../labels.tsx";
import { verdictOfAnswer } from "./verdict-of-answer.ts";
import { titleOf } from "../words.ts";

interface RunHeadProps {
  readonly id: string;
  /** Null: the server does not know it, or has not answered yet. */
  readonly answer: SandboxStateAnswer | null;
}

/** What a run is, its state, and the button that ends it. */
export function RunHead({ id, answer }: RunHeadProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const row = running.value.rows?.find((each) => each.id === id);
  const lives = answer !== null && answer.state !== "ended";
  const kind = row?.kind ?? answer?.stored?.kind ?? null;
  const title = answer === null ? "Sandbox" : titleOf({ operation: answer.operation, kind });
  return (
    <header class="detail-head">
      <a class="icon-button back" href={addressOf({ section: route.value.section })} aria-label="Back to the list">
        <Icon name="back" />
      </a>
      <div class="detail-name">
        <h2 id="detail-title">
          {title}
          {answer !== null && (lives ? <Living state={answer.state} /> : <Badge {...verdictOfAnswer(answer)} />)}
        </h2>
        <p class="facts">
          <Id id={id} />
          {answer !== null && <span>{durationText(durationOf(answer, row?.elapsed_ms))}</span>}
          {(row?.engine ?? answer?.stored?.engine ?? null) !== null && (
            <span>{row?.engine ?? answer?.stored?.engine}</span>
          )}
          {lives && answer.progress !== null && <span class="progress">{answer.progress}</span>}
          {answer !== null && <Labels labels={answer.labels} />}
        </p>
      </div>
      {lives && (
        <button type="button" class="danger" onClick={() => dialog.current?.showModal()}>
          <Icon name="stop" />
          End
        </button>
      )}
      <EndDialog dialog={dialog} id={id} title={title} isPreview={kind === "preview"} />
    </header>
  );
}

/** Of an ended run its program's time, in milliseconds. */
function durationOf(
  { result, stored, elapsed_ms: elapsedMs }: SandboxStateAnswer,
  listedMs: number | undefined,
): number {
  const { duration_ms: ofResult } = (result ?? {}) as { readonly duration_ms?: unknown };
  return typeof ofResult === "number" ? ofResult : (stored?.duration_ms ?? listedMs ?? elapsedMs);
}

function Living({ state }: { readonly state: "starting" | "running" | "ended" }): VNode {
  return (
    <span class="badge info">
      <LiveDot state={state} />
      {state === "starting" ? "Starting" : "Running"}
    </span>
  );
}

/** An id that a click copies. */
function Id({ id }: { readonly id: string }): VNode {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(id);
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    } catch {
      // Without the right to the clipboard the id can still be selected.
    }
  };
  return (
    <span class="id">
      <code>{id}</code>
      <button
        type="button"
        class="icon-button small"
        onClick={() => void copy()}
        aria-label={isCopied ? "Copied" : "Copy the id"}
      >
        <Icon name={isCopied ? "check" : "copy"} />
      </button>
    </span>
  );
}
