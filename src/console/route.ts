import { signal, type ReadonlySignal } from "@preact/signals";

export const sections = ["running", "history", "alerts"] as const;
export type Section = (typeof sections)[number];

export const tabs = ["log", "metrics", "tests", "preview", "result"] as const;
export type Tab = (typeof tabs)[number];

/** What the page shows, as its address's fragment says: `#/SECTION`, `#/SECTION/ID`, `#/SECTION/ID/TAB`. */
export interface Route {
  readonly section: Section;
  /** A run's or a sandbox's. */
  readonly id: string | null;
  /** Null: the one that fits best. */
  readonly tab: Tab | null;
}

const current = signal<Route>({ section: "running", id: null, tab: null });
export const route: ReadonlySignal<Route> = current;

/** Follows the address. */
export function followAddress(): void {
  const read = (): void => {
    current.value = parseRoute(location.hash);
  };
  addEventListener("hashchange", read);
  read();
}

export function parseRoute(hash: string): Route {
  const [, section = "", id = "", tab = ""] = hash.replace(/^#/, "").split("/");
  return {
    section: sections.find((each) => each === section) ?? "running",
    id: id === "" ? null : decoded(id),
    tab: tabs.find((each) => each === tab) ?? null,
  };
}

/** An address within this page, whatever the id holds. */
export function addressOf({ section, id = null, tab = null }: Partial<Route> & Pick<Route, "section">): string {
  const parts = [section, ...(id === null ? [] : [encodeURIComponent(id), ...(tab === null ? [] : [tab])])];
  return `#/${parts.join("/")}`;
}

export function goTo(to: Partial<Route> & Pick<Route, "section">): void {
  location.hash = addressOf(to);
}

/** Null where it is not well formed. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
