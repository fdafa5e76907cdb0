import type { Signal } from "@preact/signals";
import type { VNode } from "preact";

/** A field that narrows a list. */
export function Filter({ text, label }: { readonly text: Signal<string>; readonly label: string }): VNode {
  return (
    <input
      class="filter"
      type="search"
      data-key="filter"
      placeholder="Filter  /"
      aria-label={label}
      value={text.value}
      onInput={({ currentTarget }) => {
        text.value = currentTarget.value;
      }}
    />
  );
}

/** Whether every word of the filter is in one of the texts. */
export function matches(filter: string, texts: readonly (string | null)[]): boolean {
  const whole = texts.join("\n").toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => whole.includes(word));
}
