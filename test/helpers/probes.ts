import { existsSync, readFileSync } from "node:fs";

/** A small program that tries to get out: it prints `BLOCKED` or `ESCAPED`, each with what happened. */
export interface Probe {
  readonly id: string;
  readonly code: string;
  /** Whether it gets out of a container without our policy; if so, blocking it proves something. */
  readonly escapesWithoutPolicy: boolean;
}

/** A program that tries to exhaust the machine, with the way it must end. */
export interface Bomb {
  readonly id: string;
  readonly language: "python" | "javascript";
  readonly code: string;
  readonly expect: {
    readonly exit_code?: number | readonly number[];
    readonly stdout_re?: string;
    readonly stderr_re?: string;
    readonly timeout?: boolean;
  };
}

interface ManifestRow {
  readonly id: string;
  readonly file: string;
  readonly kind: "probe" | "bomb";
  readonly language?: "python" | "javascript";
  readonly expect?: Bomb["expect"];
  readonly observed?: { readonly loose?: string };
}

const corpus = new URL("../../../shared/corpus/probes/", import.meta.url);

/** Whether the corpus is next to this checkout. */
export const probesPresent: boolean = existsSync(corpus);

export function corpusProbes(): Probe[] {
  return manifest()
    .filter((row) => row.kind === "probe")
    .map((row) => ({
      id: row.id,
      code: read(row),
      escapesWithoutPolicy: row.observed?.loose?.startsWith("ESCAPED") === true,
    }));
}

export function corpusBombs(): Bomb[] {
  return manifest()
    .filter((row) => row.kind === "bomb")
    .map((row) => ({ id: row.id, language: row.language ?? "python", code: read(row), expect: row.expect ?? {} }));
}

function manifest(): ManifestRow[] {
  if (!probesPresent) return [];
  return JSON.parse(readFileSync(new URL("manifest.json", corpus), "utf8")) as ManifestRow[];
}

function read(row: ManifestRow): string {
  return readFileSync(new URL(row.file, corpus), "utf8");
}
