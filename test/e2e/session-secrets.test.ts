import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";

const value = `sk-session-${Math.random().toString(36).slice(2, 12)}`;
const settings = { images: sessionImages, secrets: { KEY: { file: "" } } };
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-secrets-"));
  settings.secrets.KEY.file = join(folder, "key");
  await writeFile(settings.secrets.KEY.file, value);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const leaving = fixtureProgram("leaves-its-threads.py").at(-1);
const thief = `
import glob
for file in glob.glob('/proc/[0-9]*/environ'):
    try:
        variables = open(file, 'rb').read()
    except OSError:
        continue
    if b'KEY=sk-' in variables:
        open('/work/stolen', 'w').close()
`;

const keep = "import os; print(os.environ['KEY']); open('/work/kept', 'w').write('key=' + os.environ['KEY'])";

describe.each(engines)("secrets in a session on %s", (engine) => {
  const glovebox = useGlovebox(engine, { settings });
  const run = (code: string, secrets?: string[]) =>
    glovebox().runCode({ language: "python", code, packages: [], secrets });

  it("go to the call that names them, and show in nothing that the session says from then on", async () => {
    const first = await run(keep, ["KEY"]);
    expect(first).toMatchObject({ outcome: "completed", stdout: "[redacted:KEY]\n" });
    const second = await run("import os; print(os.environ.get('KEY'))");
    expect(second.stdout).toBe("None\n");
    expect(second.warnings.join()).not.toContain("KEY");

    const later = await run("print(open('/work/kept').read())");
    expect(later).toMatchObject({ outcome: "completed", stdout: "key=[redacted:KEY]\n" });
    expect(later.warnings.join()).toContain("KEY");

    const read = await glovebox().readFile({ path: "kept" });
    expect(read).toMatchObject({ content: "key=[redacted:KEY]", size_bytes: `key=${value}`.length, truncated: false });
    expect(read.warnings.join()).toContain("KEY");

    const { processes } = glovebox();
    const { process_id: id } = await processes.start({ command: ["cat", "/work/kept"] });
    await expect
      .poll(async () => (await processes.list({ process_id: id })).processes[0]?.stdout?.text)
      .toBe("key=[redacted:KEY]");

    await run(`open('/work/name-${value}', 'w').close()`);
    const listed = await glovebox().listFiles();
    expect(listed.files.map(({ path }) => path)).toContain("name-[redacted:KEY]");
    expect(JSON.stringify(listed)).not.toContain(value);
    expect(listed.warnings.join()).toContain("KEY");

    // Only what is shown is redacted: the file itself is unchanged.
    expect(await run(`print(len(open('/work/kept').read()))`)).toMatchObject({ stdout: `${value.length + 4}\n` });
    await glovebox().endSession();
    const next = await run(`print("${value}")`);
    expect(next.stdout).toBe(`${value}\n`);
  });

  it("are not read by what an earlier call left behind, though its first thread has ended", async () => {
    const left = await run(`import sys\nsys.argv[1:] = [${JSON.stringify(thief)}]\n${leaving}`);
    expect(left).toMatchObject({ outcome: "completed", restarted: false });
    const used = "import subprocess\nsubprocess.run(['sleep', '0.5'])";
    expect(await run(used, ["KEY"])).toMatchObject({ outcome: "completed" });
    expect(await run("import os\nprint(os.path.exists('/work/stolen'))")).toMatchObject({ stdout: "False\n" });
  });
});
