import type { VNode } from "preact";
import { addressOf, goTo, type Section, type Tab } from "../route.ts";

const names: Readonly<Record<Tab, string>> = {
  log: "Log",
  metrics: "Metrics",
  tests: "Tests",
  preview: "Preview",
  result: "Result",
};

interface TabsProps {
  readonly section: Section;
  readonly id: string;
  readonly offered: readonly Tab[];
  readonly shown: Tab;
}

/** Tabs as links, moved between by the arrows. */
export function Tabs({ section, id, offered, shown }: TabsProps): VNode {
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = offered[(offered.indexOf(shown) + step + offered.length) % offered.length] ?? shown;
    goTo({ section, id, tab: next });
    document.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
    event.preventDefault();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views" onKeyDown={onKeyDown}>
      {offered.map((tab) => (
        <a
          key={tab}
          id={`tab-${tab}`}
          role="tab"
          href={addressOf({ section, id, tab })}
          aria-selected={tab === shown}
          aria-controls="panel"
          tabIndex={tab === shown ? 0 : -1}
        >
          {names[tab]}
        </a>
      ))}
    </div>
  );
}
