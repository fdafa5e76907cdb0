import type { VNode } from "preact";
import { running } from "../api/lists.ts";
import { Empty } from "./empty.tsx";

/** Shown in place of details while nothing is selected. */
export function Overview(): VNode {
  const count = running.value.rows?.length ?? 0;
  return (
    <Empty icon="box" title={count === 0 ? "Nothing is open" : "Choose a row"}>
      <p>Its log, metrics and results are shown here.</p>
      <p class="keys">
        <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> opens, <kbd>?</kbd> lists all keys
      </p>
    </Empty>
  );
}
