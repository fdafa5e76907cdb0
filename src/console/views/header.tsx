import type { VNode } from "preact";
import { alerts, running } from "../api/lists.ts";
import { addressOf, route, sections, type Section } from "../route.ts";
import { session, signOut } from "../session.ts";
import { nextTheme, theme, type Theme } from "../theme.ts";
import { Icon, type IconName } from "./icon.tsx";

const names: Readonly<Record<Section, string>> = { running: "Running", history: "History", alerts: "Alerts" };
const themeIcons: Readonly<Record<Theme, IconName>> = { system: "system", light: "sun", dark: "moon" };

/** The page's name, its sections, and what concerns the page itself. */
export function Header({ onHelp }: { readonly onHelp: () => void }): VNode {
  const { section } = route.value;
  return (
    <header class="header">
      <a class="brand" href={addressOf({ section: "running" })}>
        <span class="brand-mark" aria-hidden="true" />
        Glovebox
      </a>
      <nav class="sections" aria-label="Sections">
        {sections.map((each) => (
          <a key={each} href={addressOf({ section: each })} aria-current={each === section ? "page" : undefined}>
            {names[each]}
            <Count section={each} />
          </a>
        ))}
      </nav>
      <div class="header-end">
        <Connection />
        <button
          type="button"
          class="icon-button"
          onClick={nextTheme}
          aria-label={`Theme: ${theme.value}`}
          title={`Theme: ${theme.value} (t)`}
        >
          <Icon name={themeIcons[theme.value]} />
        </button>
        <button
          type="button"
          class="icon-button help"
          onClick={onHelp}
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
        >
          <Icon name="help" />
        </button>
        {session.value.token !== "" && (
          <button type="button" class="icon-button" onClick={() => signOut()} aria-label="Sign out" title="Sign out">
            <Icon name="leave" />
          </button>
        )}
      </div>
    </header>
  );
}

function Count({ section }: { readonly section: Section }): VNode | null {
  const count = section === "running" ? running.value.rows?.length : section === "alerts" ? openAlerts() : undefined;
  return count === undefined || count === 0 ? null : <span class={`count ${section}`}>{count}</span>;
}

/** Alerts that go on, among the newest. */
function openAlerts(): number {
  return (alerts.value.rows ?? []).filter(({ endedAt }) => endedAt === null).length;
}

function Connection(): VNode {
  const { failure, rows } = running.value;
  const word =
    failure === null ? (rows === null ? "Connecting" : "Live") : failure.status === 0 ? "Offline" : "Trouble";
  return (
    <span
      class={`connection ${word.toLowerCase()}`}
      role="status"
      title={failure?.message ?? "The lists are up to date."}
    >
      <span class="dot" aria-hidden="true" />
      <span class="connection-word">{word}</span>
    </span>
  );
}
