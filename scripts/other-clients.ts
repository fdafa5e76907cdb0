/**
 * Runs what else speaks E2B's protocol, unmodified, against `glovebox serve --e2b`: its SDK in Python with its own live
 * tests, LangChain's tests of sandboxes, and a short program of each framework. The second half of
 * `npm run clients -- [ENGINE...]`, by default on local and docker; bench/results/other-clients.json has what they said.
 * GLOVEBOX_TEST_CLIENTS is a folder outside of the checkout, into which their packages are installed; GLOVEBOX_TEST_E2B
 * and GLOVEBOX_TEST_E2B_INTERPRETER are checkouts of E2B's repositories. What lacks its folder is skipped.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKeyServer } from "../test/helpers/key-server.ts";
import { sessionImages } from "../test/helpers/test-images.ts";
import { abortedAtExit, withClientsTable, type ClientRow } from "./clients-table.ts";
import { assertUnmodified, clientSuites, haveImages } from "./e2b-suite.ts";
import { clientEnvironment, installClients, programs, pythonPackages, runProgram } from "./foreign-clients.ts";
import { pythonSuites, runPythonSuite, type PythonCount } from "./python-suites.ts";

const resultsFile = new URL("../bench/results/other-clients.json", import.meta.url);
const page = new URL("../docs/clients.md", import.meta.url);
const {
  GLOVEBOX_TEST_E2B: checkout = "",
  GLOVEBOX_TEST_E2B_INTERPRETER: interpreter = "",
  GLOVEBOX_TEST_CLIENTS: clients = "",
} = process.env;
const folders = { checkout, interpreter, clients };
const engines = process.argv.slice(2);

if (clients === "") {
  process.stdout.write("SKIPPED: clients of others. Set GLOVEBOX_TEST_CLIENTS to a folder for their packages.\n");
} else {
  installClients(clients);
  for (const suite of clientSuites) {
    const folder = process.env[suite.variable] ?? "";
    if (folder !== "") assertUnmodified(folder, suite);
    else process.stdout.write(`SKIPPED: tests in Python. Set ${suite.variable} to a checkout of their repository.\n`);
  }
  for (const engine of engines.length === 0 ? ["local", "docker"] : engines) await runOn(engine);
  writeFileSync(page, withClientsTable(readFileSync(page, "utf8"), readRows()));
}

async function runOn(engine: string): Promise<void> {
  const image = engine === "local" ? {} : { GLOVEBOX_IMAGE_SESSION: sessionImages.session };
  await using server = await startKeyServer(["--engine", engine, "--e2b", "0"], image);
  const key = await server.addKey("clients");
  await haveImages(server.e2bUrl, key.text);
  const environment = clientEnvironment(key.text, server.e2bUrl);
  const folder = mkdtempSync(join(tmpdir(), "glovebox-clients-"));
  try {
    for (const program of programs) {
      const { exitCode, stdout, stderr } = await runProgram(clients, program, environment);
      const hasPassed = exitCode === 0 && stdout === program.prints;
      const isAbort = exitCode === "SIGABRT" && stdout === program.prints;
      const message = isAbort ? abortedAtExit : (errorLine(stderr) ?? `ended with ${exitCode}`);
      const failed = hasPassed ? [] : [{ test: program.file, message }];
      keep(program.name, program.package, engine, { passed: hasPassed ? 1 : 0, skipped: 0, failed });
    }
    for (const suite of pythonSuites) {
      if (folders[suite.of] === "") continue;
      const places = { ...folders, report: join(folder, "report.xml") };
      const count = await runPythonSuite(suite, places, environment);
      const version = pythonPackages.find((each) => each.startsWith(`${suite.client}==`)) ?? "";
      keep(suite.name, version, engine, count);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Each as soon as it is there: a later one may fail to start. */
function keep(name: string, version: string, engine: string, count: PythonCount): void {
  const before = readRows();
  const own = before.find((row) => row.name === name && row.package === version)?.engines;
  const rows = before.filter((row) => row.name !== name);
  rows.push({ name, package: version, engines: { ...own, [engine]: count } });
  rows.sort((one, other) => (one.name < other.name ? -1 : 1));
  writeFileSync(resultsFile, `${JSON.stringify(rows, null, 2)}\n`);
}

function readRows(): readonly ClientRow[] {
  return existsSync(resultsFile) ? (JSON.parse(readFileSync(resultsFile, "utf8")) as readonly ClientRow[]) : [];
}

/** The line of a Python traceback or of Node's report that says what happened, else the last one. */
function errorLine(stderr: string): string | undefined {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  return lines.findLast((line) => /^\S*(?:Error|Exception)\b/.test(line)) ?? lines.at(-1);
}
