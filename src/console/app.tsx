import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { watchHistory, watchLists } from "./api/lists.ts";
import { followKeys } from "./keyboard.ts";
import { route } from "./route.ts";
import { session } from "./session.ts";
import { AlertList } from "./views/alert-list.tsx";
import { Header } from "./views/header.tsx";
import { HistoryList } from "./views/runs/history-list.tsx";
import { Overview } from "./views/overview.tsx";
import { RunDetail } from "./views/runs/run-detail.tsx";
import { RunningList } from "./views/runs/running-list.tsx";
import { ShortcutsDialog } from "./views/shortcuts-dialog.tsx";
import { SignIn } from "./views/sign-in.tsx";

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
