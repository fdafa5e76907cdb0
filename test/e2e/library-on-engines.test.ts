import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect, createGlovebox, type GloveboxOptions, type Glovebox } from "../../src/index.ts";
import { startHttpServer } from "../helpers/http-server.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { isRequired } from "../helpers/require.ts";
import { sessionImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

interface Subject extends AsyncDisposable {
  readonly glovebox: Glovebox;
}

type Open = (engine: string, projects: string) => Promise<Subject>;

const subjects: Readonly<Record<string, Open>> = {
  "the embedded library": async (engine, projects) => {
    const settings = { images: sessionImages, project_roots: [projects] };
    const glovebox = await createGlovebox({ engine: engine as GloveboxOptions["engine"], settings });
    return { glovebox, [Symbol.asyncDispose]: () => glovebox.close() };
  },
  "the client of a server": async (engine, projects) => {
    const environment = { GLOVEBOX_IMAGE_SESSION: sessionImages.session, GLOVEBOX_PROJECT_ROOTS: projects };
    // Without it sessions live on the embedded engine.
    const mode = { EXECUTION_MODE: "container", CONTAINER_RUNTIME: engine };
    const server = await startHttpServer(["--engine", engine], { ...environment, ...mode });
    const key = server.headers["authorization"]?.replace("Bearer ", "");
    const glovebox = connect({ url: server.url, key });
    const end = async (): Promise<void> => {
      await glovebox.close();
      await server[Symbol.asyncDispose]();
    };
    return { glovebox, [Symbol.asyncDispose]: end };
  },
};
const cases = (["docker", "podman"] as const).flatMap((engine) =>
  Object.entries(subjects).map(([name, open]) => ({ name, engine, open })),
);

/** Parts of the behaviour tested by `library-behaviour.test.ts` on the embedded engine that may differ on others. */
describe.each(cases)("$name on $engine", ({ engine, open }) => {
  let projects = "";
  let subject: Subject | undefined;
  const glovebox = (): Glovebox => {
    if (subject === undefined) throw new Error("It is open only while tests run.");
    return subject.glovebox;
  };
  beforeAll(async () => {
    if (!isRequired(engine)) return;
    projects = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
    mkdirSync(path.join(projects, "project"));
    subject = await open(engine, projects);
  });
  beforeEach((context) => {
    if (!isRequired(engine)) context.skip(`GLOVEBOX_TEST_REQUIRE does not list ${engine}`);
  });
  afterAll(async () => {
    await subject?.[Symbol.asyncDispose]();
    if (projects !== "") rmSync(projects, { recursive: true });
  });

  it("runs a program, shows its output while it runs, and ends it when its call is cancelled", async () => {
    const giveUp = new AbortController();
    const seconds = uniqueSeconds();
    const code = `import subprocess\nprint('up', flush=True)\nsubprocess.run(['sleep', '${seconds}'])`;
    const run = glovebox().execute({ language: "python", code }, { signal: giveUp.signal });
    const read = async (): Promise<void> => {
      for await (const { text } of run) if (text.includes("up")) giveUp.abort();
    };
    await Promise.allSettled([read(), run]);
    expect(giveUp.signal.aborted).toBe(true);
    await until(() => sleepersFor(seconds).length === 0);
    expect(await glovebox().execute({ language: "python", code: "print(6 * 7)" })).toMatchObject({
      ...{ ok: true, stdout: "42\n", engine },
    });
  });

  it("has sessions with files, processes and their ports, which their sandbox has too", async () => {
    await using session = await glovebox().sessions.open();
    await session.files.write("page.txt", "☃");
    const run = await session.run({ language: "python", code: "print(open('page.txt').read())" });
    expect(run).toMatchObject({ ok: true, stdout: "☃\n", engine });
    const command = ["python3", "-m", "http.server", "8000", "--bind", "127.0.0.1"];
    const sandbox = glovebox().sandboxes.get(run.sandboxId);
    const server = await sandbox.processes.start({ command, ports: [8000] });
    const url = server.details?.ports[0]?.url ?? "";
    await until(
      async () =>
        (await fetch(`${url}/page.txt`).then(
          (answer) => answer.text(),
          () => "",
        )) === "☃",
    );
    expect(await session.processes.list()).toMatchObject([{ processId: server.id, state: "running" }]);
    expect(await sandbox.files.readText("page.txt")).toBe("☃");
    expect((await server.stop()).state).toBe("exited");
  });

  it("has environments with commands, files and processes, which their sandbox has too", async () => {
    const options = { image: sessionImages.python, projectRoot: path.join(projects, "project") };
    const environment = await glovebox().environments.create(options);
    // It ends only after its first line has arrived and a file exists that is then written.
    const command = environment.run(["sh", "-c", "echo up; while [ ! -e go ]; do sleep 0.1; done; cat go; exit 3"]);
    let text = "";
    for await (const chunk of command) {
      text += chunk.text;
      if (text === "up\n") await environment.files.write("go", Uint8Array.of(0xe2, 0x98, 0x83, 0x0a));
    }
    expect(text).toBe("up\n☃\n");
    expect(await command).toMatchObject({ ok: false, exitCode: 3, outcome: "failed" });
    const sandbox = glovebox().sandboxes.get(environment.details?.sandboxId ?? "");
    expect((await sandbox.files.list()).files).toMatchObject([{ path: "go", type: "file", sizeBytes: 4 }]);
    const echo = await sandbox.processes.start(["cat"]);
    await echo.write("hello\n", { close: true });
    let said = "";
    for await (const chunk of echo.output()) said += chunk.text;
    expect(said).toBe("hello\n");
    // The end of its output is known earlier than the end of the process.
    await until(async () => (await environment.processes.list())[0]?.state === "exited");
    expect(await environment.processes.list()).toMatchObject([{ processId: echo.id, state: "exited" }]);
    await environment.close();
    await expect(environment.files.list()).rejects.toMatchObject({ errorType: "NOT_FOUND" });
    await expect(sandbox.files.list()).rejects.toMatchObject({ errorType: "NOT_FOUND" });
  });
});
