import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { openPreloadGlovebox, type PreloadGlovebox } from "../helpers/preload-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

const settings = { images: sessionImages, secrets: { KEY: { file: "" } } };
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-start-files-"));
  settings.secrets.KEY.file = join(folder, "key");
  await writeFile(settings.secrets.KEY.file, "a-secret-of-this-test");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Run = (request: RunCodeRequest) => Promise<RunCodeResponse>;

/** What an earlier call leaves wherever it can, so that the start of a later one runs it. */
const plant = `
import os
text = "import os; os.environ['SPOILT'] = 'yes'; open(os.path.join(os.environ['HOME'], 'spoilt'), 'a').write(os.environ.get('KEY', '-'))\\n"
folders = [os.getcwd(), os.environ["HOME"], *os.environ["PYTHONPATH"].split(":")]
for folder in folders:
    try:
        for name in ("sitecustomize", "usercustomize", "json", "mine"):
            open(folder + "/" + name + ".py", "w").write(text if name != "mine" else "value = 42\\n")
        open(folder + "/evil.pth", "w").write(text)
        open(folder + "/evil.ts", "w").write("process.env.SPOILT = 'yes'; console.log('spoilt');\\n")
        for name in ("bunfig.toml", ".bunfig.toml"):
            open(folder + "/" + name, "w").write('preload = ["' + folder + '/evil.ts"]\\n')
        for name in (".env", ".env.local", ".env.development"):
            open(folder + "/" + name, "w").write("SPOILT=yes\\nNODE_OPTIONS=--require=" + folder + "/evil.ts\\n")
        open(folder + "/tsconfig.json", "w").write('{"compilerOptions":{"baseUrl":".","paths":{"node:os":["./evil.ts"],"os":["./evil.ts"]}}}')
        open(folder + "/.npmrc", "w").write("node-options=--require=" + folder + "/evil.ts\\n")
    except OSError as error:
        print(error)
`;
const python = `
import json, os, mine
print(os.environ.get("SPOILT"), os.path.exists(os.path.join(os.environ["HOME"], "spoilt")), mine.value)`;
const typescript = `
import os from "node:os";
console.log(process.env.SPOILT, typeof os.cpus, process.env.NODE_OPTIONS);`;

function itStartsClean(place: () => Run): void {
  it("do not run before the code of a call that is given secrets, which can still import what they left", async () => {
    const run = place();
    expect(await run({ language: "python", code: plant })).toMatchObject({ outcome: "completed" });
    for (let count = 0; count < 2; count += 1) {
      const ran = await run({ language: "python", code: python, secrets: ["KEY"] });
      expect(ran).toMatchObject({ outcome: "completed", stderr: "", stdout: "None False 42\n" });
      for (const language of ["typescript", "javascript"] as const) {
        const result = await run({ language, code: typescript, secrets: ["KEY"] });
        expect(result).toMatchObject({ outcome: "completed", stdout: "undefined function undefined\n" });
      }
    }
  });
}

describe.each(engines)("start files of earlier calls in a session on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings });
  const run: Run = (request) => glovebox().runCode({ packages: [], ...request });
  itStartsClean(() => run);

  it("run as ever in calls without secrets, where each call is as trusted as the next", async () => {
    expect(await run({ language: "python", code: plant })).toMatchObject({ outcome: "completed" });
    expect((await run({ language: "python", code: python })).stdout).toMatch(/^yes True 42/);
    expect((await run({ language: "typescript", code: typescript })).stdout).toMatch(/^spoilt\nyes/);
  });
});

describe("start files of earlier calls in a session at isolation preload", () => {
  let glovebox: PreloadGlovebox;
  let session: { readonly session_id?: string } = {};
  beforeAll(async () => {
    glovebox = await openPreloadGlovebox({ settings: { secrets: settings.secrets } });
  });
  afterAll(() => glovebox[Symbol.asyncDispose]());
  itStartsClean(() => async (request) => {
    const response = await glovebox.runCode({ packages: [], ...session, ...request });
    session = { session_id: response.session_id };
    return response;
  });
});
