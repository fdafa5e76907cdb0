import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadHostConfig } from "../../src/config/load-config.ts";
import { executeCodeContract } from "../../src/operations/execute-contract.ts";
import { parseRequest } from "../../src/operations/contract/parse-request.ts";
import { runCodeContract } from "../../src/operations/session-contract.ts";
import { runCodeHandler } from "../../src/operations/session-handler.ts";
import { createPlatform } from "../../src/platform/platform.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { PackageRegistry } from "../helpers/package-registry.ts";
import { openPreloadGlovebox, type PreloadGlovebox } from "../helpers/preload-glovebox.ts";
import { testImages } from "../helpers/test-images.ts";

// Reached by its address if there is no sandbox in between.
const [registry, onHost] = [await PackageRegistry.start(), await PackageRegistry.start("127.0.0.1")];
for (const each of [registry, onHost]) {
  const shouts = "import os\nos.write(1, b'RAN AT THE START\\n')\n";
  each.addWheel({
    name: "gb_shadow",
    version: "1.0",
    files: {
      "gb_shadow/__init__.py": "word = 'true'\n",
      "json.py": "raise SystemExit('SHADOWED')\n",
      "random/__init__.py": "raise SystemExit('SHADOWED')\n",
      "sitecustomize.py": shouts,
      "usercustomize.py": shouts,
      "gb_shadow.pth": shouts.replace("\n", ";"),
      "start/sitecustomize.py": shouts,
    },
  });
  each.addWheel({ name: "gb_one", version: "1.0", files: { "gbspace/one.py": "word = 'one'\n" } });
  each.addWheel({ name: "gb_two", version: "1.0", files: { "gbspace/two.py": "word = 'two'\n" } });
  // The images and most hosts have their own one.
  each.addWheel({ name: "pip", version: "999.0", files: { "pip/__init__.py": "word = 'asked for'\n" } });
}
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-packages-")));
afterAll(() => {
  for (const each of [registry, onHost]) each[Symbol.dispose]();
  execFileSync("sh", ["-c", 'chmod -R u+w "$1" && rm -r "$1"', "sh", folder]);
});

const secrets = { KEY: { file: path.join(folder, "key") } };
writeFileSync(secrets.KEY.file, "a-secret-of-this-test");

const packages = ["gb-one", "gb-shadow", "gb-two"];

/** Where the program, and each Python that it starts, find what. */
const looks = `
import json, os, random, sys
import gb_shadow, gbspace.one, gbspace.two
print(json.dumps([gb_shadow.word, gbspace.one.word, gbspace.two.word]), random.random() < 1)
place = sys.path.index(os.path.dirname(os.path.dirname(gb_shadow.__file__)))
def is_library(entry): return os.path.basename(entry) == "lib-dynload" or entry == os.path.dirname(os.__file__)
def is_own(entry): return os.path.basename(entry) in ("site-packages", "dist-packages") and entry != sys.path[place]
print(max(map(sys.path.index, filter(is_library, sys.path))) < place < min([*map(sys.path.index, filter(is_own, sys.path)), 99]))
print([entry for entry in sys.path if "/start" in entry], "sitecustomize" in sys.modules and "site-packages" in sys.modules["sitecustomize"].__file__)
`;
const found = '["true", "one", "two"] True\nTrue\n[] False\n';
const children = `
import subprocess, sys
for options in (["-c"], ["-u", "-c"]): subprocess.run([sys.executable, *options, ${JSON.stringify(looks)}])
`;

interface Program {
  readonly code: string;
  readonly packages?: readonly string[];
  readonly context_files?: readonly { readonly path: string; readonly content: string }[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
}
interface Told {
  readonly stdout: string;
  readonly stderr: string;
}

/** The same at each level, in a fresh sandbox and in a session. */
function behaves(
  run: (program: Program) => Promise<Told>,
  runInSession: (program: Program) => Promise<Told>,
  startsOthers: boolean,
): void {
  it("stand behind Python's own library and before what else is installed, and run nothing at the start", async () => {
    for (const each of [run, runInSession]) {
      for (const given of [{}, { secrets: ["KEY"] }]) {
        const { stdout, stderr } = await each({ code: looks, packages, ...given });
        expect(stdout, stderr).toBe(found);
      }
    }
  });

  it.runIf(startsOthers)("stand there in the Pythons that a program starts, too", async () => {
    for (const each of [run, runInSession]) {
      const { stdout, stderr } = await each({ code: children, packages });
      expect(stdout, stderr).toBe(found.repeat(2));
    }
  });

  it("come after the program's own modules, and its own search path and start-up file count", async () => {
    const own = { path: "gb_shadow.py", content: "word = 'of the program'\n" };
    const { stdout, stderr } = await run({
      code: "import gb_shadow, gbspace.one, sys\nprint(gb_shadow.word, gbspace.one.word, sys.own_start)",
      packages,
      context_files: [own, { path: "lib/sitecustomize.py", content: "import sys\nsys.own_start = True\n" }],
      environment: { PYTHONPATH: "lib" },
    });
    expect(stdout, stderr).toBe("of the program one True\n");
  });

  it("come before those of the image or the host", async () => {
    const { stdout, stderr } = await run({ code: "import pip\nprint(pip.word)", packages: ["pip==999.0"] });
    expect(stdout, stderr).toBe("asked for\n");
  });
}

describe.each(engines)("packages of Python on %s", (engine) => {
  const settings = {
    images: { ...testImages, session: testImages.python },
    network: registry.network,
    secrets,
    packages: { directory: path.join(folder, engine) },
  };
  const glovebox = useGlovebox(engine, { settings });
  const inLanguage = (program: Program): object => ({ language: "python", ...program });
  let runInSession: (program: Program) => Promise<Told>;
  beforeAll(async () => {
    process.env["PIP_INDEX_URL"] = `${registry.base}/simple`;
    const { config, host } = await loadHostConfig({ settings });
    const platform = await createPlatform({ config, host, door: "person", defaultEngine: engine });
    runInSession = async (program) =>
      runCodeHandler.run(platform, parseRequest(runCodeContract, inLanguage(program)), {
        principal: "test",
        connection: "one",
      });
    return async () => void (await platform.close());
  });
  behaves(
    (program) => glovebox().execute(parseRequest(executeCodeContract, inLanguage(program))),
    (program) => runInSession(program),
    true,
  );
});

describe("packages of Python at isolation preload", () => {
  let glovebox: PreloadGlovebox;
  beforeAll(async () => {
    process.env["PIP_INDEX_URL"] = `${onHost.base}/simple`;
    glovebox = await openPreloadGlovebox({
      settings: { secrets, packages: { directory: path.join(folder, "preload"), install_at_preload: true } },
    });
    return () => glovebox[Symbol.asyncDispose]();
  });
  behaves(
    (program) => glovebox.execute(parseRequest(executeCodeContract, { language: "python", ...program })),
    (program) => glovebox.runCode(parseRequest(runCodeContract, { language: "python", ...program })),
    false,
  );
});
