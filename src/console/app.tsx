import type { VNode, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { watchHistory, watchLists, alerts, history, running, type SandboxRow, type JoinedAlert } from "./lists.ts";
import { route, addressOf, sections, goTo, type Section, type Tab } from "./route.ts";
import { session, signOut, signIn } from "./ask.ts";
import { HistoryList } from "./views/history-list.tsx";
import { RunDetail } from "./views/run-detail.tsx";
import { RunningList } from "./views/running-list.tsx";
import { signal } from "@preact/signals";
import { agoText, durationText } from "./amounts.ts";
import { Untrusted } from "./untrusted.tsx";
import { Badge } from "./views/badge.tsx";
import { Empty } from "./views/empty.tsx";
import { Failure } from "./views/failure.tsx";
import { Filter, matches } from "./views/filter.tsx";
import { textsOfRun, Work } from "./views/run-words.tsx";
import { nextTheme, theme, type Theme } from "./theme.ts";
import { Icon, type IconName } from "./views/icon.tsx";
import { StartHere } from "./views/start-here.tsx";

/** The whole page. */
export function App(): VNode {
  const { state } = session.value;
  return state === "signed-out" ? <SignIn /> : <Console />;
}

function Console(): VNode {
  const { section, id } = route.value;
  const shortcuts = useRef<HTMLDialogElement>(null);
  // A list belongs to the token that it was asked for with.
  const { token } = session.value;
  useEffect(watchLists, [token]);
  // Alerts name what ran in sandboxes that have ended.
  const needsHistory = section !== "running";
  useEffect(() => (needsHistory ? watchHistory() : undefined), [needsHistory, token]);
  useEffect(() => followKeys({ onHelp: () => shortcuts.current?.showModal() }), []);
  return (
    <div class="console" data-view={id === null ? "list" : "detail"}>
      <Header onHelp={() => shortcuts.current?.showModal()} />
      <main class="panes">
        <section class="list-pane" aria-label={section}>
          {section === "running" && <RunningList selected={id} />}
          {section === "history" && <HistoryList selected={id} />}
          {section === "alerts" && <AlertList selected={id} />}
        </section>
        <section class="detail-pane" aria-label="Details">
          {id === null ? <Overview /> : <RunDetail key={id} id={id} />}
        </section>
      </main>
      <ShortcutsDialog dialog={shortcuts} />
    </div>
  );
}

const filter = signal("");

const kinds: Readonly<Record<JoinedAlert["kind"], string>> = {
  cpu: "CPU",
  memory: "Memory",
  oom: "Out of memory",
  network: "Network",
  preview_error: "Preview error",
  setuid_files: "Setuid files",
  tooling_files: "Tooling files",
};

/** The newest alerts, each once. */
function AlertList({ selected }: { readonly selected: string | null }): VNode {
  const { rows, failure, atMs } = alerts.value;
  const runs = runsBySandbox();
  const shown = (rows ?? []).filter((alert) => matches(filter.value, textsOf(alert, runs.get(alert.sandboxId))));
  return (
    <>
      <div class="list-head">
        <h1>Alerts</h1>
        <Filter text={filter} label="Filter alerts" />
      </div>
      <Failure failure={failure} />
      {rows !== null && rows.length === 0 && (
        <Empty icon="shield" title="All quiet">
          <p>Sandboxes that come near their limits, or try what they may not, are named here.</p>
        </Empty>
      )}
      {rows !== null && rows.length > 0 && shown.length === 0 && <p class="nothing">Nothing matches.</p>}
      <ul class="rows">
        {shown.map((alert, index) => (
          <li key={`${alert.startedAt} ${alert.sandboxId} ${alert.kind} ${index}`}>
            <Row alert={alert} run={runs.get(alert.sandboxId)} nowMs={atMs} isSelected={alert.sandboxId === selected} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface RowProps {
  readonly alert: JoinedAlert;
  /** What runs or ran in its sandbox, where that is known. */
  readonly run: SandboxRow | undefined;
  readonly nowMs: number;
  readonly isSelected: boolean;
}

/** One alert: its cause, its kind and whether it goes on, what helps, and where it is. */
function Row({ alert, run, nowMs, isSelected }: RowProps): VNode {
  const { sandboxId, kind, cause, details, suggestion, startedAt, endedAt } = alert;
  const goesOn = endedAt === null;
  return (
    <a
      class="row"
      href={addressOf({ section: "alerts", id: sandboxId })}
      aria-current={isSelected ? "true" : undefined}
    >
      <span class="row-text alert-cause">
        <Untrusted text={cause} max={300} />
      </span>
      <span class="row-line">
        <Badge word={kinds[kind] ?? kind} tone={goesOn ? "warn" : "quiet"} icon={goesOn ? "warning" : "check"} />
        <span class="quiet">{stateOf(alert)}</span>
        <span class="row-end">
          <time dateTime={startedAt ?? endedAt ?? ""}>{agoText(startedAt ?? endedAt ?? "", nowMs)}</time>
        </span>
      </span>
      {details !== "" && (
        <span class="row-text quiet">
          <Untrusted text={details} max={300} />
        </span>
      )}
      {suggestion !== "" && (
        <span class="row-text quiet">
          <Untrusted text={suggestion} max={300} />
        </span>
      )}
      <span class="row-line quiet">
        {run !== undefined && run.name !== null && (
          <span class="row-kind">
            <Untrusted text={run.name} max={80} />
          </span>
        )}
        <code>{sandboxId}</code>
      </span>
      {run !== undefined && <Work run={run} />}
    </a>
  );
}

/** Whether it goes on, how long it lasted and what it counted. */
function stateOf({ startedAt, endedAt, total }: JoinedAlert): string {
  if (endedAt === null) return "goes on";
  const lasted = startedAt === null ? "" : ` after ${durationText(Date.parse(endedAt) - Date.parse(startedAt))}`;
  return `over${lasted}${total === null ? "" : ` · ${total.toLocaleString("en")} in all`}`;
}

/** The newest run of each sandbox, as far as the lists have it. */
function runsBySandbox(): ReadonlyMap<string, SandboxRow> {
  const ended = (history.value.rows ?? []).toReversed();
  return new Map([...ended, ...(running.value.rows ?? [])].map((row) => [row.sandbox_id ?? row.id, row]));
}

function textsOf(alert: JoinedAlert, run: SandboxRow | undefined): (string | null)[] {
  const { sandboxId, kind, cause, details } = alert;
  return [sandboxId, kind, kinds[kind], cause, details, stateOf(alert), ...(run === undefined ? [] : textsOfRun(run))];
}

const names: Readonly<Record<Section, string>> = { running: "Running", history: "History", alerts: "Alerts" };
const themeIcons: Readonly<Record<Theme, IconName>> = { system: "system", light: "sun", dark: "moon" };

/** The page's name, its sections, and what concerns the page itself. */
function Header({ onHelp }: { readonly onHelp: () => void }): VNode {
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

/** Shown in place of details while nothing is selected: how to begin, where there is nothing to select. */
function Overview(): VNode {
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

/** Lists the keys. */
function ShortcutsDialog({ dialog }: { readonly dialog: RefObject<HTMLDialogElement | null> }): VNode {
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="shortcuts-title">
      <h2 id="shortcuts-title">Keyboard</h2>
      <dl class="shortcuts">
        {shortcuts.map(([keys, effect]) => (
          <div key={keys}>
            <dt>
              {keys.split("  ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{effect}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" class="primary">
          Close
        </button>
      </form>
    </dialog>
  );
}

/** Asks for the token or an API key. */
function SignIn(): VNode {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState(session.value.problem);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!signIn(token.trim())) setProblem("This cannot be a token: it has characters that no token has.");
  };
  return (
    <main class="sign-in">
      <form class="sign-in-card" onSubmit={submit}>
        <span class="brand">
          <span class="brand-mark" aria-hidden="true" />
          Glovebox
        </span>
        <h1>Sign in</h1>
        <label htmlFor="token">Token or API key</label>
        <input
          id="token"
          ref={field}
          type="password"
          autoComplete="current-password"
          spellcheck={false}
          required
          value={token}
          aria-describedby="token-hint"
          aria-invalid={problem !== undefined}
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
        />
        {problem !== undefined && (
          <p class="problem" role="alert">
            <Icon name="warning" />
            {problem}
          </p>
        )}
        <button type="submit" class="primary">
          Sign in
        </button>
        <p id="token-hint" class="hint">
          <code>glovebox console</code> on the server&rsquo;s machine opens this page signed in. Elsewhere use a key of{" "}
          <code>glovebox keys add</code>. It is kept in this tab only.
        </p>
      </form>
    </main>
  );
}

/** What the keys do, for the page that explains them. */
const shortcuts: readonly (readonly [keys: string, effect: string])[] = [
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
function followKeys({ onHelp }: { readonly onHelp: () => void }): () => void {
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
