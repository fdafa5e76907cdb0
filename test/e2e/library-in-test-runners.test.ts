import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { packInto, run } from "../package/packed-package.ts";

const base = mkdtempSync(path.join(tmpdir(), "glovebox-runners-"));
const [project, home] = [path.join(base, "project"), path.join(base, "home")];
afterAll(() => rmSync(base, { recursive: true }));

/** Runs a one-shot and a session, and throws if their answers are wrong. */
const use = `export async function use({ createGlovebox }) {
  const glovebox = await createGlovebox({ engine: "local" });
  try {
    const { outcome, stdout } = await glovebox.execute({ language: "python", code: "print(6 * 7)" });
    const session = await glovebox.sessions.open();
    const run = await session.run({ code: "const six: number = 6; console.log(six * 7)", packages: [] });
    const answer = [outcome, stdout, run.stdout].join("|");
    if (answer !== "completed|42\\n|42\\n") throw new Error(answer);
  } finally {
    await glovebox.close();
  }
  await createGlovebox({ settings: { max_containers: "many" } }).then(
    () => { throw new Error("a bad setting was taken"); },
    (error) => { if (error.errorType !== "INVALID_REQUEST") throw error; },
  );
}
`;

const files: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({ private: true }),
  "use.mjs": use,
  "esm.test.mjs": `import * as glovebox from "glovebox";
import { use } from "./use.mjs";
test("works", () => use(glovebox), 60_000);
`,
  "commonjs.test.cjs": `const glovebox = require("glovebox");
test("works", async () => (await import("./use.mjs")).use(glovebox), 60_000);
`,
  "vitest.spec.mjs": `import * as glovebox from "glovebox";
import { test } from "vitest";
import { use } from "./use.mjs";
test("works", () => use(glovebox), 60_000);
`,
  "worker.mjs": `import { isMainThread, parentPort, Worker } from "node:worker_threads";
if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url));
  worker.on("message", (message) => console.log(message));
} else {
  const { use } = await import("./use.mjs");
  await use(await import("glovebox"));
  parentPort.postMessage("1 passed");
}
`,
};

let problem: string | null = null;
useGlovebox("local");
beforeAll(() => {
  for (const folder of [project, home]) mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(project, name), text);
  const { filename } = packInto(base);
  try {
    const packages = [path.join("..", filename), "jest@30", "vitest@5"];
    run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", ...packages], project);
  } catch (error) {
    problem = `the packages that it needs cannot be installed: ${String(error).slice(0, 300)}`;
  }
}, 300_000);
beforeEach((context) => {
  if (problem === null) return;
  // If tests are mandatory, so is the registry that the checkout itself was installed from.
  if (process.env["GLOVEBOX_TEST_REQUIRE"]) throw new Error(problem);
  context.skip(problem);
});

/** Everything that it prints. The user's home is new and has no configuration. */
function runIn(...command: readonly string[]): string {
  const environment = [
    `PATH=${path.dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    `HOME=${home}`,
    `XDG_CONFIG_HOME=`,
    "NO_COLOR=1",
  ];
  return run("sh", ["-c", '"$@" 2>&1', "sh", "env", ...environment, ...command], project);
}

const jest = ["node", "--experimental-vm-modules", "node_modules/jest/bin/jest.js", "--testMatch"];
const vitest = ["node", "node_modules/vitest/vitest.mjs", "run", "vitest.spec.mjs", "--pool"];

describe("the installed library works", () => {
  it.each([
    ["in Jest, imported", [...jest, "**/esm.test.mjs"]],
    ["in Jest, required", [...jest, "**/commonjs.test.cjs"]],
    ["in vitest, in processes", [...vitest, "forks"]],
    ["in vitest, in threads", [...vitest, "threads"]],
    ["in vitest, in contexts of their own", [...vitest, "vmThreads"]],
    ["in a worker thread", ["node", "worker.mjs"]],
  ] as const)("%s", (_, command) => {
    expect(runIn(...command)).toMatch(/\b1 passed/);
  });

  it("in a CommonJS program", () => {
    expect(runIn("node", "-e", 'console.log(typeof require("glovebox").createGlovebox)')).toBe("function\n");
  });
});
