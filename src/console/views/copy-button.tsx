import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { copyText } from "../copy-text.ts";
import { Icon } from "./icon.tsx";

/** How long a button says what came of it. */
const saidMs = 1_500;

/** A button that copies a text; `label`: what it copies, such as "Copy the id". */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }): VNode {
  const [outcome, setOutcome] = useState<"copied" | "failed" | null>(null);
  useEffect(() => {
    if (outcome === null) return undefined;
    const timer = setTimeout(() => setOutcome(null), saidMs);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => setOutcome((await copyText(text)) ? "copied" : "failed");
  const said = { copied: "Copied", failed: "Not copied: select it instead" } as const;
  return (
    <>
      <button type="button" class="icon-button small" onClick={() => void copy()} aria-label={label} title={label}>
        <Icon name={outcome === "copied" ? "check" : outcome === "failed" ? "cross" : "copy"} />
      </button>
      <span class="sr-only" role="status">
        {outcome === null ? "" : said[outcome]}
      </span>
    </>
  );
}
