/**
 * `npm run sabotage [-- WORD...]`: plants one fault after another in a copy of the checkout and runs the test that must
 * notice it. The test must pass without the fault, and fail with it because of an assertion, not a time limit.
 * WORD: only sabotages whose id or file contains it. The last line has the counts; the exit code is 1 unless all were caught.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync, spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Sabotage } from "../test/sabotage/sabotage.ts";
import { sabotages } from "../test/sabotage/sabotages.ts";
import { judgeSabotage } from "./judge-sabotage.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const words = process.argv.slice(2);
/** Rare tests notice faults too. */
const everyTest = ["--project", "*", "--tags-filter", "rare || !rare"];
const chosen = sabotages.filter(
  ({ id, file }) => words.length === 0 || words.some((word) => id.includes(word) || file.includes(word)),
);
const copy = mkdtempSync(join(tmpdir(), "glovebox-sabotage-"));
const passing = new Map<string, string>();
let caught = 0;
try {
  copyCheckout();
  for (const sabotage of chosen) {
    const verdict = tryOne(sabotage);
    if (verdict === "caught") caught++;
    console.log(
      `${verdict === "caught" ? "caught  " : "SURVIVED"}  ${sabotage.id}${verdict === "caught" ? "" : `: ${verdict}`}`,
    );
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
console.log(`${caught} of ${chosen.length} sabotages caught`);
process.exitCode = chosen.length > 0 && caught === chosen.length ? 0 : 1;

/** Every file that git tracks or would add, with its present content. */
function copyCheckout(): void {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const file of listed
    .toString()
    .split("\0")
    .filter((name) => name !== "" && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
}

/** "caught", or why it was not. */
function tryOne(sabotage: Sabotage): string {
  const path = join(copy, sabotage.file);
  const source = readFileSync(path, "utf8");
  const found = source.split(sabotage.find).length - 1;
  if (found !== 1) return `its text occurs ${found} times in ${sabotage.file}, not once`;
  const test = `${sabotage.test} ${sabotage.name}`;
  if (!passing.has(test)) passing.set(test, judgeSabotage(runTest(sabotage)));
  const without = passing.get(test);
  if (without !== "passed") return `without it, the test does not pass: ${without}`;
  writeFileSync(
    path,
    source.replace(sabotage.find, () => sabotage.replace),
  );
  try {
    const verdict = judgeSabotage(runTest(sabotage));
    return verdict === "passed" ? `${test} passes all the same` : verdict;
  } finally {
    writeFileSync(path, source);
  }
}

/** Vitest's JSON report; null when it wrote none. */
function runTest({ test, name }: Sabotage): string | null {
  const report = join(copy, "sabotage-report.json");
  rmSync(report, { force: true });
  const pattern = name.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  const vitest = ["node_modules/.bin/vitest", "run", ...everyTest, test, "--testNamePattern", pattern, "--retry=0"];
  spawnSync(join(root, "node_modules/.bin/node"), [...vitest, "--reporter=json", `--outputFile.json=${report}`], {
    cwd: copy,
    stdio: "ignore",
    env: { ...process.env, CI: "" },
  });
  return existsSync(report) ? readFileSync(report, "utf8") : null;
}
