import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
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

/**
 * Puts a text on the clipboard; resolves to whether that worked. Browsers have the newer way only on pages of https and of
 * this machine, so that a server reached by another name needs the older one.
 */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr-only";
  // Where a dialog is open, nothing outside of it can be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  try {
    // oxlint-disable-next-line typescript/no-deprecated -- there is no other way on such pages
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
  }
}
