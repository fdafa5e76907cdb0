import type { Sabotage } from "./sabotage.ts";

export const cliSabotages: readonly Sabotage[] = [
  {
    id: "caveats: what is missing without a wall is shown once a day",
    file: "src/cli/output/live-events.ts",
    find: "    if (!isWall(isolation)) return this.#warnWithoutWalls(warnings);\n",
    replace: "",
    test: "src/cli/output/live-events.test.ts",
    name: "what an engine lacks once for all commands of a day",
  },
  {
    id: "caveats: shown once and never again",
    file: "src/cli/output/live-events.ts",
    find: "nowMs >= shownMs && nowMs - shownMs < dayMs) return false;",
    replace: "nowMs >= shownMs) return false;",
    test: "src/cli/output/known-caveats.test.ts",
    name: "are new once a day",
  },
  {
    id: "caveats: written through a link",
    file: "src/cli/output/live-events.ts",
    find: "      renameSync(unfinished, this.#file);",
    replace:
      "      writeFileSync(this.#file, readFileSync(unfinished));\n      renameSync(unfinished, `${this.#file}.old`);",
    test: "src/cli/output/known-caveats.test.ts",
    name: "never written through a link",
  },
  {
    id: "log of commands: reasons move the cursor",
    file: "src/cli/command-io.ts",
    find: "escapeLine(`glovebox: ${message}${reason.slice(0, maxReason)}${beside}`.slice(0, maxLine))",
    replace: "`glovebox: ${message}${reason.slice(0, maxReason)}${beside}`.slice(0, maxLine)",
    test: "src/cli/command-io.test.ts",
    name: "lets a hostile reason neither begin a line",
  },
  {
    id: "engines: what other systems have is advice",
    file: "src/engines/discover.ts",
    find: "if (!isForeign) failures.push(",
    replace: "if (isForeign || true) failures.push(",
    test: "src/engines/discover.test.ts",
    name: "leaves out what other systems have",
  },
];
