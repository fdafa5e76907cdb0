import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Recorded } from "./render.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What the README's picture shows: a result, and three runs whose ends need an explanation. */
const shown: readonly (readonly string[])[] = [
  ["-c", "import os; print(6 * 7, os.listdir('/work'), os.getuid())"],
  ["-c", "x = 'a' * 10**9"],
  ["--timeout", "1s", "-c", "while True: pass"],
  [
    ...["--network", "example.com", "-c"],
    "import urllib.request as r\ntry: r.urlopen('https://evil.test')\nexcept OSError as e: exit(e)",
  ],
];

const quote = (word: string): string =>
  /^[\w./:-]+$/.test(word) ? word : `"${word.replaceAll(/["$`\\]/g, String.raw`\$&`)}"`;

/** Runs the commands on the embedded engine, and takes all that they print. @throws Error if it cannot run them */
export function record(): readonly Recorded[] {
  return shown.map((args) => {
    const words = ["run", "--engine", "local", ...args];
    // Both streams in the order of a terminal.
    const command = ["-c", 'exec "$0" "$@" 2>&1', `${root}bin/glovebox`, ...words];
    const { stdout: output, status } = spawnSync("sh", command, { cwd: root, encoding: "utf8" });
    if (status === null || status === 125 || status === 2) throw new Error(`glovebox ${words.join(" ")}: ${output}`);
    return { command: `glovebox ${words.map(quote).join(" ")}`, output };
  });
}
