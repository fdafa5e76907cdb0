import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { Turns } from "../../src/base/turns.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { skipOrFail } from "../helpers/require.ts";
import { sessionImages } from "../helpers/test-images.ts";

/** Faults after public bug reports, each with a `try.sh CHECKOUT ENGINE` that prints PASS, FAIL or SKIP and what it saw. */
const folder = fileURLToPath(new URL("../../../shared/corpus/bugs/", import.meta.url));

const tries = [
  "02-node-test-without-tests",
  "03-tracked-but-ignored",
  "05-pythonpath-in-command",
  "06-node-options-in-command",
  "09-pytest-subtests-count",
  "11-preview-header-bytes",
];

/** Packages that the tries of an engine install: fetched once. */
const packages = mkdtempSync(path.join(tmpdir(), "glovebox-public-bugs-"));
afterAll(() => rmSync(packages, { recursive: true, force: true }));

/** A try ends itself after 120 s, so three at a time: on a busy machine, six would all be late. */
const atOnce = 3;

/** @returns what it printed, one line */
function run(name: string, engine: string, signal: AbortSignal): Promise<string> {
  const environment = {
    ...process.env,
    BUGS3_PACKAGES: packages,
    GLOVEBOX_IMAGE_PYTHON: sessionImages.python,
    GLOVEBOX_IMAGE_JAVASCRIPT: sessionImages.javascript,
    GLOVEBOX_IMAGE_TYPESCRIPT: sessionImages.typescript,
    GLOVEBOX_IMAGE_SESSION: sessionImages.session,
  };
  const argv = [path.join(folder, name, "try.sh"), projectFolder, engine];
  return new Promise((resolve) => {
    execFile("bash", argv, { env: environment, signal }, (error, stdout, stderr) => {
      resolve(stdout.trim() || `${error?.message ?? "nothing was printed"}: ${stderr.trim().slice(-300)}`);
    });
  });
}

describe.each(engines)("faults of public bug reports on %s", (engine) => {
  useGlovebox(engine);
  const rows = Array.from({ length: atOnce }, () => new Turns());

  it.concurrent.for(tries)("do not occur: %s", { timeout: 300_000 }, async (name, context) => {
    if (!existsSync(folder)) skipOrFail(context, "corpus", "../shared/corpus is not there");
    const row = rows[tries.indexOf(name) % atOnce] ?? new Turns();
    const said = await row.during(() => run(name, engine, context.signal), context.signal);
    if (said.startsWith("SKIP ")) context.skip(said);
    expect(said).toMatch(new RegExp(`^PASS ${name} on ${engine}: `));
  });
});
