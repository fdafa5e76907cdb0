import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import type { SandboxStateAnswer } from "../../../operations/sandboxes/sandbox-state-schema.ts";
import { running } from "../../api/lists.ts";
import { addressOf, route } from "../../route.ts";
import { durationText } from "../../text/amounts.ts";
import { Untrusted } from "../../text/untrusted.tsx";
import { Badge, LiveDot } from "../badge.tsx";
import { CopyButton } from "../copy-button.tsx";
import { EndDialog } from "../end-dialog.tsx";
import { Icon } from "../icon.tsx";
import { RunPlace, Work } from "./run-words.tsx";
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
  const title = answer === null ? "Sandbox" : titleOf(answer);
  const exitCode = answer === null ? null : exitCodeOf(answer);
  return (
    <header class="detail-head">
      <a class="icon-button back" href={addressOf({ section: route.value.section })} aria-label="Back to the list">
        <Icon name="back" />
      </a>
      <div class="detail-name">
        <h2 id="detail-title">
          <Untrusted text={answer?.name ?? title} max={80} />
          {answer !== null && (lives ? <Living state={answer.state} /> : <Badge {...verdictOfAnswer(answer)} />)}
        </h2>
        {answer !== null && <Work run={answer} />}
        <p class="facts">
          {answer !== null && answer.name !== null && (
            <span>
              <Untrusted text={title} max={80} />
            </span>
          )}
          <span class="id">
            <code>
              <Untrusted text={id} max={100} />
            </code>
            <CopyButton text={id} label="Copy the id" />
          </span>
          {answer !== null && <span>{durationText(durationOf(answer, row?.elapsed_ms))}</span>}
          {exitCode !== null && exitCode !== 0 && <span>exit {exitCode}</span>}
          {lives && answer.progress !== null && (
            <span class="progress">
              <Untrusted text={answer.progress} max={200} />
            </span>
          )}
          {answer !== null && <RunPlace run={answer} />}
        </p>
      </div>
      {lives && (
        <button type="button" class="danger" onClick={() => dialog.current?.showModal()}>
          <Icon name="stop" />
          End
        </button>
      )}
      <EndDialog dialog={dialog} id={id} title={title} isPreview={answer?.kind === "preview"} />
    </header>
  );
}

function exitCodeOf({ result, stored }: SandboxStateAnswer): number | null {
  const { exit_code: ofResult } = (result ?? {}) as { readonly exit_code?: unknown };
  return typeof ofResult === "number" ? ofResult : (stored?.exit_code ?? null);
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
