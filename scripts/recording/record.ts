import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Recorded } from "./render.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What the README's picture shows: a result, and three runs whose ends need an explanation. */
const shown: readonly (readonly string[])[] = [
  ["-c", "import os; print(6 * 7, os.listdir('/work'), os.getuid())"],
  ["-c", "x = 'a' * 10**9"],
  ["--timeout", "1s", "-c", "while True: pass"],
  ["--network", "example.com", "-c", "import urllib.request as r; r.urlopen('https://evil.test')"],
];

const quote = (word: string): string =>
  /^[\w./:-]+$/.test(word) ? word : `"${word.replaceAll(/["$`\\]/g, String.raw`\$&`)}"`;

/** Runs the commands on the embedded engine. @throws Error if it cannot run them */
export function record(): readonly Recorded[] {
  return shown.map((args) => {
    const words = ["run", "--engine", "local", ...args];
    const { stdout, stderr, status } = spawnSync(`${root}bin/glovebox`, words, { cwd: root, encoding: "utf8" });
    if (status === null || status === 125 || status === 2) throw new Error(`glovebox ${words.join(" ")}: ${stderr}`);
    return { command: `glovebox ${words.map(quote).join(" ")}`, output: `${stdout}${explanations(stderr)}` };
  });
}

/** What Glovebox said, and the advice below each line; a program's own traceback adds nothing to that. */
function explanations(stderr: string): string {
  let isOurs = false;
  const kept = stderr.split("\n").filter((line) => {
    isOurs = line.startsWith("glovebox: ") || (isOurs && line.startsWith("  "));
    return isOurs;
  });
  return kept.join("\n");
}
