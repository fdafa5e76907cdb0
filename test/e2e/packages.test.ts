import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createGlovebox,
  type ExecuteRequest,
  type ExecuteResponse,
  type Glovebox,
  type OperationEvent,
} from "../helpers/wire-glovebox.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { proxyPids } from "../helpers/proxy-subject.ts";
import { testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

const registry = await PackageRegistry.start();
const code = "module.exports = require('./package.json').version;\n";
registry.addNpm({ name: "gb-tiny", version: "1.0.0", files: { "index.js": code } });
registry.addNpm({ name: "gb-tiny", version: "2.0.0", files: { "index.js": code } });
registry.addNpm({
  name: "@gb/scoped",
  version: "3.0.0",
  files: { "index.js": code, "deep/data.txt": "x".repeat(100_000) },
});
for (const name of ["gb-part", "gb-rest", "gb-other"]) {
  registry.addNpm({ name, version: "1.0.0", files: { "index.js": code } });
}
registry.addWheel({ name: "gb_base", version: "1.0", files: { "gb_base/__init__.py": "word = 'true'\n" } });
registry.addWheel({
  name: "gb_poison",
  version: "1.0",
  files: { "gb_poison.py": "", "gb_base/__init__.py": "word = 'poison'\n" },
});
registry.addNpm({ name: "gb-slow", version: "1.0.0", files: { "index.js": code } });
registry.addNpm({
  name: "gb-script",
  version: "1.0.0",
  files: { "index.js": "module.exports = require('fs').existsSync(__dirname + '/ran');\n" },
  scripts: { preinstall: "touch ran", install: "touch ran", postinstall: "touch ran" },
});
const module = "import importlib.metadata\nversion = importlib.metadata.version('gb_wheel')\n";
registry.addWheel({ name: "gb_wheel", version: "1.0", files: { "gb_wheel/__init__.py": module } });
registry.addWheel({ name: "gb_wheel", version: "2.0", files: { "gb_wheel/__init__.py": module } });
registry.addSource({ name: "gb_source", version: "1.0", files: { "setup.py": "raise SystemExit('ran')\n" } });
afterAll(() => registry[Symbol.dispose]());

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-packages-")));
afterAll(() => execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", folder]));

/** Waits until the installation downloads the package that never comes whole. @throws what it ends with before that */
async function untilDownloads(installation: Promise<unknown>): Promise<void> {
  let hasEnded = false;
  const end = (): void => void (hasEnded = true);
  installation.then(end, end);
  await until(() => hasEnded || registry.downloads("gb-slow") > 0);
  if (hasEnded) await installation;
  expect(registry.downloads("gb-slow")).toBeGreaterThan(0);
}

interface Told {
  readonly events: OperationEvent[];
  readonly response: ExecuteResponse;
}

describe.each(engines)("packages on %s", (engine) => {
  const directory = path.join(folder, engine);
  const settings = { images: testImages, network: registry.network, packages: { directory } };
  const glovebox = useGlovebox(engine, { settings });
  beforeEach(() => registry.forget());

  async function run(request: Partial<ExecuteRequest> & { readonly code: string }, box?: Glovebox): Promise<Told> {
    const events: OperationEvent[] = [];
    const response = await (box ?? glovebox()).execute(
      { language: "javascript", timeout_seconds: 30, ...request },
      { onEvent: (event) => void events.push(event) },
    );
    return { events, response };
  }
  const messages = ({ events }: Told): readonly string[] =>
    events.flatMap((event) => (event.type === "progress" ? [event.message] : []));

  it("are announced, installed before the code runs, and from then on served from the cache", async () => {
    const request = {
      packages: ["gb-tiny@1.0.0", "@gb/scoped"],
      code: "console.log(require('gb-tiny'), require('@gb/scoped'))",
    };
    const first = await run(request);
    expect(first.response.stdout, first.response.stderr).toBe("1.0.0 3.0.0\n");
    expect(first.response.packages_installed).toEqual(["@gb/scoped@3.0.0", "gb-tiny@1.0.0"]);
    expect(messages(first)[0]).toBe("Installing @gb/scoped, gb-tiny@1.0.0");
    expect(messages(first).at(-1)).toMatch(/^Installed @gb\/scoped@3\.0\.0, gb-tiny@1\.0\.0: \d+ files, /);
    expect(first.events.findIndex(({ type }) => type === "sandbox")).toBeGreaterThan(
      first.events.findIndex(({ type }) => type === "progress"),
    );
    registry.forget();
    const second = await run({ ...request, packages: request.packages.toReversed() });
    expect(second.response).toMatchObject({
      stdout: "1.0.0 3.0.0\n",
      packages_installed: ["@gb/scoped@3.0.0", "gb-tiny@1.0.0"],
    });
    expect(messages(second)).toEqual([]);
    expect(registry.downloads("")).toBe(0);
  });

  it("that other lists have are not installed again, and a list of nothing else costs no network", async () => {
    const use = (...names: readonly string[]) => `console.log(${names.map((name) => `require('${name}')`).join(", ")})`;
    await run({ packages: ["gb-part"], code: use("gb-part") });
    registry.forget();
    const both = await run({ packages: ["gb-part", "gb-rest"], code: use("gb-part", "gb-rest") });
    expect(both.response, both.response.stderr).toMatchObject({
      stdout: "1.0.0 1.0.0\n",
      packages_installed: ["gb-part@1.0.0", "gb-rest@1.0.0"],
    });
    expect([registry.downloads("gb-part"), registry.downloads("gb-rest")]).toEqual([0, 1]);
    expect(messages(both)[0]).toBe("Installing gb-rest");
    await run({ packages: ["gb-other"], code: use("gb-other") });
    registry.forget();
    const all = await run({
      packages: ["gb-other", "gb-part", "gb-rest"],
      code: use("gb-other", "gb-part", "gb-rest"),
    });
    expect(all.response.stdout, all.response.stderr).toBe("1.0.0 1.0.0 1.0.0\n");
    expect(messages(all)).toEqual([]);
    expect(registry.downloads("")).toBe(0);
  });

  it("that bring different files of one name are installed together, as if none had been there", async () => {
    const python = (packages: string[], code: string) => run({ language: "python", packages, code });
    await python(["gb-base"], "import gb_base");
    await python(["gb-poison"], "import gb_poison");
    registry.forget();
    const both = await python(["gb-base", "gb-poison"], "import gb_base, gb_poison; print('both')");
    expect(both.response.stdout, both.response.stderr).toBe("both\n");
    expect(messages(both)[0]).toBe("Installing gb-base, gb-poison");
    expect(registry.downloads("gb_base")).toBe(1);
  });

  it("of one run are not those of another: two versions side by side, in each language", async () => {
    const version = 'import version from "gb-tiny";\nconsole.log(version as string);';
    const [one, two] = await Promise.all(
      ["gb-tiny@1", "gb-tiny"].map((spec) => run({ language: "typescript", code: version, packages: [spec] })),
    );
    expect([one?.response.stdout, two?.response.stdout]).toEqual(["1.0.0\n", "2.0.0\n"]);
    expect(two?.response.packages_installed).toEqual(["gb-tiny@2.0.0"]);
  });

  it("of Python are wheels only, for the same Python", async () => {
    const python = { language: "python", code: "import gb_wheel\nprint(gb_wheel.version)" } as const;
    const { response } = await run({ ...python, packages: ["gb-wheel == 1.0"] });
    expect(response.stdout, response.stderr).toBe("1.0\n");
    expect(response.packages_installed).toEqual(["gb_wheel==1.0"]);
    await expect(run({ ...python, packages: ["gb_source", "gb_wheel"] })).rejects.toMatchObject({
      errorType: "PACKAGE_INSTALL_FAILED",
      context: { packages: ["gb-source"], reason: expect.stringContaining("No matching distribution") },
    });
  });

  it("that cannot be had are named, with the reason, and the code does not run", async () => {
    const events: OperationEvent[] = [];
    const failure = (packages: readonly string[]): Promise<unknown> =>
      glovebox()
        .execute(
          { language: "javascript", code: "console.log('RAN')", packages: [...packages] },
          { onEvent: (event) => void events.push(event) },
        )
        .catch((error: unknown) => error);
    expect(await failure(["gb-tiny", "gb-no-such"])).toMatchObject({
      errorType: "PACKAGE_INSTALL_FAILED",
      message: expect.stringContaining("gb-no-such"),
      context: { packages: ["gb-no-such"], reason: expect.stringMatching(/404|Not Found/) },
    });
    expect(await failure(["gb-tiny@9.9.9"])).toMatchObject({
      errorType: "PACKAGE_INSTALL_FAILED",
      context: { packages: ["gb-tiny@9.9.9"], reason: expect.stringMatching(/9\.9\.9|No matching version/) },
    });
    expect(events.some(({ type }) => type === "sandbox" || type === "output")).toBe(false);
  });

  it("run no script of their own when they are installed", async () => {
    const { response } = await run({ code: "console.log('ran', require('gb-script'))", packages: ["gb-script"] });
    expect(response.stdout, response.stderr).toBe("ran false\n");
  });

  it("cannot be changed by a program, nor does it reach the registry", async () => {
    const { response } = await run({
      packages: ["gb-tiny"],
      code: `
const fs = require("node:fs");
const file = require.resolve("gb-tiny");
const refusals = [
  () => fs.writeFileSync(file, "module.exports = 'poison'"),
  () => fs.chmodSync(file, 0o777),
  () => fs.unlinkSync(file),
  () => fs.writeFileSync("/node_modules/new.js", ""),
  () => fs.renameSync("/node_modules/gb-tiny", "/node_modules/other"),
].map((work) => { try { work(); return "DONE"; } catch (error) { return "refused"; } });
console.log([...new Set(refusals)].join());
const { npm_config_registry: url = "none" } = process.env;
fetch("http://registry.test/").then(() => console.log("REACHED"), () => console.log("no network", url));
`,
    });
    expect(response.stdout, response.stderr).toBe("refused\nno network none\n");
    expect((await run({ packages: ["gb-tiny"], code: "console.log(require('gb-tiny'))" })).response.stdout).toBe(
      "2.0.0\n",
    );
  });

  it("are installed once when several ask at a time, also of another process", async () => {
    const packages = ["gb-tiny@2.0.0", "@gb/scoped@3.0.0"];
    const other = await createGlovebox({ engine, settings });
    try {
      const runs = await Promise.all(
        [glovebox(), other, glovebox()].map((box) => run({ packages, code: "console.log(require('gb-tiny'))" }, box)),
      );
      expect(runs.map(({ response }) => response.stdout)).toEqual(["2.0.0\n", "2.0.0\n", "2.0.0\n"]);
      expect(registry.downloads("gb-tiny-2.0.0")).toBe(1);
    } finally {
      await other.close();
    }
  });

  it("of a cancelled installation leave nothing, and the next one works", async () => {
    const cancel = new AbortController();
    const given = glovebox().execute(
      { language: "javascript", code: "1", packages: ["gb-slow", "gb-tiny"] },
      { signal: cancel.signal },
    );
    await untilDownloads(given);
    cancel.abort();
    await expect(given).rejects.toMatchObject({ errorType: "CANCELLED" });
    const installing = async (): Promise<readonly string[]> =>
      (await glovebox().sandboxes({ engine })).filter(({ kind }) => kind === "install").map((row) => row.sandbox_id);
    // Others may install something on this machine, too: theirs end by themselves.
    const left = await installing();
    const stay = async (): Promise<void> => {
      expect((await installing()).filter((id) => left.includes(id))).toEqual([]);
    };
    await vi.waitFor(stay, { timeout: 30_000, interval: 500 });
    const { sets } = await glovebox().packages();
    expect(sets.filter(({ requested }) => requested.includes("gb-slow"))).toEqual([]);
    expect((await run({ packages: ["gb-tiny"], code: "console.log(require('gb-tiny'))" })).response.outcome).toBe(
      "completed",
    );
  });

  it("fail clearly when the proxy dies, and only they", async () => {
    const failing = glovebox().execute({ language: "javascript", code: "1", packages: ["gb-slow"] });
    await untilDownloads(failing);
    for (const each of proxyPids()) process.kill(each, "SIGKILL");
    await expect(failing).rejects.toMatchObject({
      errorType: "PACKAGE_INSTALL_FAILED",
      context: { packages: ["gb-slow"], reason: expect.stringContaining("proxy ended"), retryable: true },
    });
    const next = await run({ packages: ["gb-tiny", "gb-script"], code: "console.log(require('gb-tiny'))" });
    expect(next.response.stdout, next.response.stderr).toBe("2.0.0\n");
  });

  it("are listed with their size, and removed when asked", async () => {
    const { sets, size_mb: size } = await glovebox().packages();
    expect(sets.length).toBeGreaterThan(3);
    expect(size).toBeGreaterThan(0);
    expect(sets.find(({ requested }) => requested.join() === "gb-tiny")).toMatchObject({
      packages: ["gb-tiny@2.0.0"],
      ecosystem: "npm",
      installed_by: engine === "local" ? "bun" : "npm",
      in_use: false,
    });
    const { removed, size_mb: left } = await glovebox().prunePackages({ max_mb: 0 });
    expect(removed.length).toBe(sets.length);
    expect(left).toBe(0);
  });

  it("are nothing but packages", async () => {
    for (const spec of ["../x", "git+https://host/x", "https://host/x.tgz", "--registry=x"]) {
      await expect(run({ packages: [spec], code: "1" })).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
    }
  });
});
