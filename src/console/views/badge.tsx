import type { VNode } from "preact";
import { Untrusted } from "../untrusted.tsx";
import { Icon } from "./icon.tsx";
import type { Verdict } from "./words.ts";

/** A verdict as a coloured word. */
export function Badge({ word, tone, icon }: Verdict): VNode {
  return (
    <span class={`badge ${tone}`}>
      <Icon name={icon} />
      <Untrusted text={word} max={60} />
    </span>
  );
}

/** A dot that shows that something is running. */
export function LiveDot({ state }: { readonly state: "starting" | "running" | "ended" }): VNode {
  return <span class={`dot ${state}`} aria-hidden="true" />;
}
