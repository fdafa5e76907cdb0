/**
 * Runs the live tests of E2B's SDKs, unmodified, against `glovebox serve --e2b`, and writes what they say to
 * bench/results/clients.json and docs/clients.md: `npm run clients -- [SUITE...] [ENGINE...]`, by default all suites on
 * local and docker. A suite's variable names a checkout of its repository at its commit, with dependencies installed;
 * without it that suite is skipped.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKeyServer } from "../test/helpers/key-server.ts";
import { sessionImages } from "../test/helpers/test-images.ts";
import {
  assertUnmodified,
  clientSuites,
  haveImages,
  parseSuiteReport,
  type ClientResults,
  type ClientSuite,
  type FileResult,
} from "./e2b-suite.ts";
import { withSuiteTable } from "./e2b-table.ts";

const resultsFile = new URL("../bench/results/clients.json", import.meta.url);
const page = new URL("../docs/clients.md", import.meta.url);
const words = process.argv.slice(2);
const named = clientSuites.filter(({ name }) => words.includes(name));
const engines = words.filter((word) => named.every(({ name }) => name !== word));

for (const suite of named.length === 0 ? clientSuites : named) {
  const checkout = process.env[suite.variable] ?? "";
  if (checkout === "") {
    process.stdout.write(`SKIPPED: ${suite.name}. Set ${suite.variable} to a checkout of its repository.\n`);
    continue;
  }
  assertUnmodified(checkout, suite);
  for (const engine of engines.length === 0 ? ["local", "docker"] : engines) {
    keepResults(suite, engine, await runOn(engine, join(checkout, suite.folder), suite));
  }
}

/** Each as soon as it is there: a later one may fail to start. */
function keepResults({ name, commit }: ClientSuite, engine: string, files: readonly FileResult[]): void {
  const all = JSON.parse(readFileSync(resultsFile, "utf8")) as ClientResults;
  const before = all[name]?.commit === commit ? all[name].engines : {};
  const results = { commit, engines: { ...before, [engine]: files } };
  writeFileSync(resultsFile, `${JSON.stringify({ ...all, [name]: results }, null, 2)}\n`);
  writeFileSync(page, withSuiteTable(readFileSync(page, "utf8"), name, results));
}

async function runOn(engine: string, folder: string, suite: ClientSuite): Promise<readonly FileResult[]> {
  const settings = engine === "local" ? {} : { GLOVEBOX_IMAGE_SESSION: sessionImages.session };
  await using server = await startKeyServer(["--engine", engine, "--e2b", "0"], settings);
  const key = await server.addKey("suite");
  await haveImages(server.e2bUrl, key.text);
  const place = mkdtempSync(join(tmpdir(), "glovebox-clients-"));
  try {
    const report = join(place, "report.json");
    const options = ["run", "--reporter=default", "--reporter=json", `--outputFile=${report}`, "--maxWorkers=2"];
    // Its exit code says that a test failed; the report says which. What the server says is read meanwhile: it would wait.
    const run = spawn(join(folder, "node_modules/.bin/vitest"), [...options, ...suite.words], {
      cwd: folder,
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
    await once(run, "exit");
    const results = parseSuiteReport(readFileSync(report, "utf8"), folder);
    for (const { file, failed } of results)
      for (const { name, message } of failed) process.stdout.write(`${engine}: ${file} > ${name}: ${message}\n`);
    return results;
  } finally {
    rmSync(place, { recursive: true });
  }
}
