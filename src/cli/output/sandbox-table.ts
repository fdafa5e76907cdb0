import type { SandboxRow } from "../../operations/sandboxes-contract.ts";
import { formatTable } from "./format-table.ts";

/** What the table needs besides its rows. */
export interface SandboxTableFacts {
  readonly nowMs: number;
  /** Whether a server gave the rows: it shows the caller's own only. */
  readonly isRemote: boolean;
  /** Names of API keys by their ids, as far as they are known here. */
  readonly keyNames: ReadonlyMap<string, string>;
}

/** Characters of an id's own part that are shown, unless it takes more to tell ids apart. */
const shortLength = 8;
/** Maximum characters of a column that others follow. */
const maxWidth = { work: 48, image: 32 } as const;

/** Live sandboxes, a line each, in words that a person would use; what a column lacks is left out as `-`. */
export function sandboxTable(rows: readonly SandboxRow[], facts: SandboxTableFacts): string {
  if (rows.length === 0) {
    return "No sandbox is running. `glovebox shell` opens one, `glovebox run FILE` runs a program in one.\n";
  }
  const short = shortIds(rows.map(({ sandbox_id: id }) => id));
  return formatTable(
    ["ID", "NAME", "AGE", "KIND", "RUNS", "IMAGE", "ENGINE", "OWNER"],
    rows.map((row) => [
      short.get(row.sandbox_id) ?? row.sandbox_id,
      row.name ?? "-",
      age(facts.nowMs - Date.parse(row.created_at)),
      row.kind,
      row.running ? cut(row.work ?? "-", maxWidth.work) : "(stopped)",
      cut(imageWords(row.image), maxWidth.image),
      row.engine,
      ownerWords(row, facts),
    ]),
  );
}

/** The shortest beginnings, of eight characters at least, that are each the only one. */
function shortIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const distinct = [...new Set(ids)];
  const longest = Math.max(...distinct.map((id) => id.length));
  return new Map(
    distinct.map((id) => {
      const first = id.indexOf("-") + 1 + shortLength;
      for (let length = first; length < longest; length += 1) {
        const short = id.slice(0, length);
        if (!distinct.some((other) => other !== id && other.startsWith(short))) return [id, short];
      }
      return [id, id];
    }),
  );
}

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
] as const;

/** How long ago, in the largest unit that fits: `42 s`, `3 min`, `2 h`, `5 d`. */
function age(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  const [unit, size] = units.find(([, each]) => seconds >= each) ?? ["s", 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** A digest says nothing to a person. */
function imageWords(image: string | null): string {
  if (image === null || image === "") return "-";
  return image.replace(/^sha256:([0-9a-f]{12})[0-9a-f]*$/, "$1").replace(/@sha256:[0-9a-f]+$/, "");
}

function ownerWords({ owner, principal }: SandboxRow, { isRemote, keyNames }: SandboxTableFacts): string {
  if (owner === "expired") return "gone (glovebox prune removes it)";
  if (owner === "unknown") return "another user or machine";
  if (isRemote || principal === "local") return "you";
  if (principal === "") return "nobody yet";
  const id = principal.replace(/^key:/, "");
  return `key ${keyNames.get(id) ?? id}`;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 3)}...`;
}
