import type { VNode } from "preact";
import type { SandboxRow } from "../lists.ts";
import { Untrusted } from "../untrusted.tsx";
import { titleOf } from "./words.ts";

/** What ran, for people. */
interface WorkWords {
  /** The language of a program, or the agent that has a prompt; null: a command, which says it itself. */
  readonly language: string | null;
  /** The first words of it; empty: there are none. */
  readonly line: string;
}

const languages: ReadonlyMap<string, string> = new Map([
  ["python", "Python"],
  ["javascript", "JavaScript"],
  ["typescript", "TypeScript"],
]);
/** Kinds of sandboxes whose work begins with a word for what it is. */
const programKinds: ReadonlySet<string | null> = new Set(["execute", "session"]);

/** Takes the work of a row apart, as the server's lists have it: `python: print(1)`, `npm test`. */
export function workWords(work: string, kind: string | null): WorkWords {
  const [, word = "", line = ""] = /^([a-z][a-z0-9-]{0,30})(?:: (.*)|$)/su.exec(work) ?? [];
  const language = kind === "agent" ? word : programKinds.has(kind) ? (languages.get(word) ?? "") : "";
  return language === "" ? { language: null, line: work } : { language, line };
}

/** The part of a row that says what it is. */
type Told = Pick<SandboxRow, "operation" | "kind" | "name" | "work" | "engine" | "image" | "labels" | "stored">;

/** The caller's name for it, and what kind of thing it is. */
export function RunTitle({ run }: { readonly run: Told }): VNode {
  const title = titleOf(run);
  return (
    <>
      <span class="row-title">
        <Untrusted text={run.name ?? title} max={80} />
      </span>
      {run.name !== null && (
        <span class="row-kind">
          <Untrusted text={title} max={80} />
        </span>
      )}
    </>
  );
}

/** What runs or ran: the language, and its first words or the command. Null: nothing yet. */
export function Work({ run }: { readonly run: Told }): VNode | null {
  if (run.work === null) return null;
  const { language, line } = workWords(run.work, run.kind);
  return (
    <span class="work">
      {language !== null && (
        <span class="language">
          <Untrusted text={language} max={40} />
        </span>
      )}
      {line !== "" && (
        <code class="work-line">
          <Untrusted text={line} max={200} />
        </code>
      )}
    </span>
  );
}

/** The engine, the image and the labels, as far as there are any. */
export function RunPlace({ run }: { readonly run: Told }): VNode | null {
  const { engine, image, labels } = run;
  if (engine === null && Object.keys(labels).length === 0) return null;
  return (
    <span class="row-place">
      {engine !== null && (
        <span class="place">
          <Untrusted text={engine} max={40} />
          {image !== null && (
            <>
              {" · "}
              <Untrusted text={shortImage(image)} max={120} />
            </>
          )}
        </span>
      )}
      <Labels labels={labels} />
    </span>
  );
}

/** An image as a person would name it: a digest says nothing. */
function shortImage(image: string): string {
  return image.replace(/^sha256:([0-9a-f]{12})[0-9a-f]*$/, "$1").replace(/@sha256:[0-9a-f]+$/, "");
}

/** What a filter looks through. */
export function textsOfRun(row: SandboxRow): (string | null)[] {
  const labels = Object.entries(row.labels).map(([name, value]) => `${name}=${value}`);
  const { id, sandbox_id: sandbox, name, work, engine, image, kind, operation } = row;
  const language = work === null ? null : workWords(work, kind).language;
  return [id, sandbox, titleOf(row), name, work, language, engine, image, kind, operation, ...labels];
}

/** A run's labels. */
function Labels({ labels }: { readonly labels: Readonly<Record<string, string>> }): VNode | null {
  const entries = Object.entries(labels);
  if (entries.length === 0) return null;
  return (
    <span class="labels">
      {entries.map(([name, value]) => (
        <span key={name} class="label">
          <Untrusted text={`${name}=${value}`} max={60} />
        </span>
      ))}
    </span>
  );
}
