import { addressOf, goTo, route, sections, type Tab } from "./route.ts";
import { nextTheme } from "./theme.ts";

/** What the keys do, for the page that explains them. */
export const shortcuts: readonly (readonly [keys: string, effect: string])[] = [
  ["j  ↓", "next row"],
  ["k  ↑", "row before"],
  ["Enter", "open the row"],
  ["Esc", "back to the list"],
  ["1  2  3", "running, history, alerts"],
  ["p  l  m  r", "preview, log, metrics, result"],
  ["f", "follow the log's end"],
  ["/", "filter the list"],
  ["t", "theme"],
  ["?", "this list"],
];

const tabKeys: Readonly<Record<string, Tab>> = { p: "preview", l: "log", m: "metrics", r: "result" };

/** Follows keys that are pressed outside of fields, until the returned function is called. */
export function followKeys({ onHelp }: { readonly onHelp: () => void }): () => void {
  const onKey = (event: KeyboardEvent): void => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]") !== null) return;
    const isField = target instanceof HTMLElement && target.matches("input, textarea, select");
    if (isField && key !== "Escape") return;
    if (act(key, target, onHelp)) event.preventDefault();
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

/** Whether the key does anything. */
function act(key: string, target: EventTarget | null, onHelp: () => void): boolean {
  const { section, id } = route.value;
  const chosen = sections[Number(key) - 1];
  const tab = tabKeys[key];
  // Tabs, menus and the log have arrows of their own.
  const hasOwnArrows = target instanceof HTMLElement && target.closest("[role=tablist], .log-lines, .tree") !== null;
  if (chosen !== undefined) goTo({ section: chosen });
  else if (key === "j" || (key === "ArrowDown" && !hasOwnArrows)) moveFocus(1);
  else if (key === "k" || (key === "ArrowUp" && !hasOwnArrows)) moveFocus(-1);
  else if (key === "Escape") goBack();
  else if (tab !== undefined && id !== null) location.hash = addressOf({ section, id, tab });
  else if (key === "f") document.querySelector<HTMLElement>("[data-key=follow]")?.click();
  else if (key === "/") document.querySelector<HTMLElement>("[data-key=filter]")?.focus();
  else if (key === "t") nextTheme();
  else if (key === "?") onHelp();
  else return false;
  return true;
}

/** From the list's row that has the focus, or the one that is open, to another. */
function moveFocus(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>(".list-pane a.row")];
  const focused = rows.findIndex((row) => row === document.activeElement);
  const open = rows.findIndex((row) => row.getAttribute("aria-current") === "true");
  const from = focused === -1 ? open : focused;
  rows[from === -1 ? 0 : Math.max(0, Math.min(rows.length - 1, from + step))]?.focus();
}

function goBack(): void {
  const { section, id } = route.value;
  if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
  if (id === null) return;
  goTo({ section });
  const address = addressOf({ section, id });
  requestAnimationFrame(() => {
    const rows = [...document.querySelectorAll<HTMLElement>(".list-pane a.row")];
    rows.find((row) => row.getAttribute("href") === address)?.focus();
  });
}
