/**
 * Runs E2B's own live tests, unmodified, against `glovebox serve --e2b`, and writes what they say to
 * bench/results/clients.json: `npm run clients -- [ENGINE...]`, by default local and docker. GLOVEBOX_TEST_E2B is a
 * checkout of E2B's repository at the commit below, with the dependencies of packages/js-sdk installed; without it
 * nothing runs.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKeyServer } from "../test/helpers/key-server.ts";
import { e2bCommit, liveFiles, parseSuiteReport, type ClientResults, type FileResult } from "./e2b-suite.ts";
import { withE2bTable } from "./e2b-table.ts";

const resultsFile = new URL("../bench/results/clients.json", import.meta.url);
const page = new URL("../docs/clients.md", import.meta.url);
const { GLOVEBOX_TEST_E2B: checkout = "" } = process.env;
const named = process.argv.slice(2);

if (checkout === "") {
  process.stdout.write("SKIPPED: E2B's live tests. Set GLOVEBOX_TEST_E2B to a checkout of E2B's repository.\n");
} else {
  const commit = execFileSync("git", ["-C", checkout, "rev-parse", "HEAD"], { encoding: "utf8" }).trim();
  if (commit !== e2bCommit) throw new Error(`GLOVEBOX_TEST_E2B: expected the commit ${e2bCommit}, got ${commit}`);
  const changed = execFileSync("git", ["-C", checkout, "status", "--porcelain", "--untracked-files=no"]);
  if (changed.length > 0) throw new Error("GLOVEBOX_TEST_E2B: expected an unmodified checkout");
  const before: ClientResults = existsSync(resultsFile)
    ? (JSON.parse(readFileSync(resultsFile, "utf8")) as ClientResults)
    : { commit, engines: {} };
  const engines: Record<string, readonly FileResult[]> = before.commit === commit ? { ...before.engines } : {};
  for (const engine of named.length === 0 ? ["local", "docker"] : named) engines[engine] = await runOn(engine);
  writeFileSync(resultsFile, `${JSON.stringify({ commit, engines }, null, 2)}\n`);
  writeFileSync(page, withE2bTable(readFileSync(page, "utf8"), { commit, engines }));
}

async function runOn(engine: string): Promise<readonly FileResult[]> {
  await using server = await startKeyServer(["--engine", engine, "--e2b", "0"]);
  const key = await server.addKey("suite");
  const folder = mkdtempSync(join(tmpdir(), "glovebox-clients-"));
  try {
    const report = join(folder, "report.json");
    const suite = join(checkout, "packages/js-sdk");
    const words = ["run", "--project", "unit", "--reporter=default", "--reporter=json", `--outputFile=${report}`];
    // Its exit code says that a test failed; the report says which.
    const { error } = spawnSync(join(suite, "node_modules/.bin/vitest"), [...words, "--maxWorkers=2", ...liveFiles], {
      cwd: suite,
      stdio: ["ignore", "inherit", "inherit"],
      env: {
        ...process.env,
        E2B_API_KEY: key.text,
        E2B_API_URL: server.e2bUrl,
        E2B_SANDBOX_URL: server.e2bUrl,
        // The keys are not of E2B's form.
        E2B_VALIDATE_API_KEY: "false",
      },
    });
    if (error !== undefined) throw error;
    const results = parseSuiteReport(readFileSync(report, "utf8"), suite);
    for (const { file, failed } of results)
      for (const { name, message } of failed) process.stdout.write(`${engine}: ${file} > ${name}: ${message}\n`);
    return results;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
