import type { VNode } from "preact";
import { history, running } from "../api/lists.ts";
import { route } from "../route.ts";
import { Empty } from "./empty.tsx";
import { StartHere } from "./start-here.tsx";

/** Shown in place of details while nothing is selected: how to begin, where there is nothing to select. */
export function Overview(): VNode {
  const { section } = route.value;
  const list = section === "history" ? history.value : section === "running" ? running.value : null;
  const isEmpty = list?.rows?.length === 0;
  return (
    <Empty icon="box" title={isEmpty ? "Start something" : "Choose a row"}>
      {isEmpty ? <StartHere /> : <p>Its log, metrics and results are shown here.</p>}
      <p class="keys">
        <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> opens, <kbd>?</kbd> lists all keys
      </p>
    </Empty>
  );
}
