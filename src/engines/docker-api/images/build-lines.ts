import type { PullLine } from "./pull-progress.ts";

/** One line of a build's answer. */
export type BuildLine = PullLine & { readonly stream?: string };

/** Lines of a failed step that are shown. */
const toldLines = 12;

/** The words of a build, line by line, and its failure with the last of them. */
export class BuildLines {
  #rest = "";
  readonly #last: string[] = [];
  #failure: string | null = null;

  /** The lines that are whole now. */
  add(line: BuildLine): readonly string[] {
    this.#failure ??= line.errorDetail?.message ?? line.error ?? null;
    const text = line.stream ?? (line.status === undefined ? "" : `${line.status}\n`);
    const lines = `${this.#rest}${text}`.split(/\r?\n/);
    this.#rest = lines.pop() ?? "";
    const told = lines.map((each) => each.trim()).filter((each) => each !== "");
    this.#last.push(...told);
    this.#last.splice(0, Math.max(0, this.#last.length - toldLines));
    return told;
  }

  /** Why the build failed, after its last lines; null when it did not. */
  get failure(): string | null {
    if (this.#failure === null) return null;
    return [...this.#last, this.#failure.trim()].join("\n");
  }
}
