import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { removeContainer } from "../helpers/remove-container.ts";
import { until } from "../helpers/until.ts";
import { owner, useEnvironments, type OpenedEnvironment } from "../helpers/environment-scene.ts";

describe.each(["docker", "podman"] as const)("files of environments on %s", (engine) => {
  const { glovebox, at, open } = useEnvironments(engine);
  const list = (env: OpenedEnvironment, name?: string) => glovebox().listFiles({ env_id: env.id, path: name });
  const read = (env: OpenedEnvironment, name: string, more = {}) =>
    glovebox().readFile({ env_id: env.id, path: name, ...more });
  const write = (env: OpenedEnvironment, name: string, content: string, more = {}) =>
    glovebox().writeFile({ env_id: env.id, path: name, content, ...more });
  const refusal = async (work: Promise<unknown>): Promise<Record<string, unknown>> => {
    const error: unknown = await work.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    return error as Record<string, unknown>;
  };

  beforeAll(() => {
    mkdirSync(at("beside"));
    writeFileSync(at("beside/secret"), "of the host alone");
    mkdirSync(at("project/.vscode"));
    writeFileSync(at("project/.vscode/settings.json"), "{}");
    for (const name of [".vscode", ".vscode/settings.json"]) chownSync(at("project", name), owner.uid, owner.gid);
  });

  it("are written and read while commands run, as the owner, by paths of the project and of the container", async () => {
    await using env = await open({ project_root: "project" });
    const waiting = env.sh("echo up; while [ ! -e in/begin ]; do sleep 0.1; done; cat in/begin");
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
    const wrote = await write(env, "in/b.bin", bytes.toString("base64"), { encoding: "base64" });
    expect(wrote).toEqual({
      ...{ env_id: env.id, path: "in/b.bin", size_bytes: 70_000 },
      ...{ restarted: false, tooling_files: [], warnings: [] },
    });
    expect(readFileSync(at("project/in/b.bin"))).toEqual(bytes);
    for (const made of ["in", "in/b.bin"]) expect(statSync(at("project", made))).toMatchObject(owner);
    expect(await read(env, "/workdir/in/b.bin", { offset: 254, limit: 4 })).toEqual({
      ...{ env_id: env.id, path: "/workdir/in/b.bin", restarted: false, warnings: [] },
      ...{ content: "/v8AAQ==", encoding: "base64", size_bytes: 70_000, truncated: true },
    });
    expect((await list(env, "in")).files).toEqual([{ path: "b.bin", type: "file", size_bytes: 70_000 }]);
    expect((await list(env)).files.map(({ path: name }) => name)).toEqual([".vscode", "in"]);
    await write(env, "/tmp/t", "☃");
    expect(await read(env, "/tmp/t")).toMatchObject({ content: "☃", encoding: "utf8", truncated: false });
    await write(env, "in/begin", "begun\n");
    expect(await waiting).toMatchObject({ outcome: "completed", stdout_tail: "up\nbegun\n", restarted: false });
    // A new file cannot do what a file of root or of another user could.
    await write(env, "in/tool", "x");
    execFileSync("chmod", ["6755", at("project/in/tool")]);
    await expect(write(env, "in/tool", "y")).resolves.toMatchObject({ size_bytes: 1 });
    expect(statSync(at("project/in/tool")).mode & 0o7777).toBe(0o755);
  });

  it("keep what a command may not write, and say why", async () => {
    writeFileSync(at("project/kept"), "kept");
    {
      await using env = await open({ project_root: "project", read_only: true, read_only_root: true });
      expect(await read(env, "kept")).toMatchObject({ content: "kept" });
      const rules = { kept: /\(read_only\)/, "new/x": /\(read_only\)/, "/usr/x": /\(read_only_root\)/ };
      for (const [name, words] of Object.entries(rules)) {
        const error = await refusal(write(env, name, "changed"));
        expect(error).toMatchObject({ errorType: "PERMISSION_DENIED", suggestion: expect.stringMatching(words) });
      }
      expect(await write(env, "/tmp/x", "y")).toMatchObject({ size_bytes: 1 });
    }
    await using env = await open({ project_root: "project", tooling_files: "locked" });
    expect(await refusal(write(env, ".vscode/settings.json", "x"))).toMatchObject({
      errorType: "PERMISSION_DENIED",
      suggestion: expect.stringContaining("tooling_files is locked"),
    });
    expect(await refusal(write(env, "kept", "x"))).toMatchObject({
      errorType: "PERMISSION_DENIED",
      suggestion: expect.stringContaining("owner of the project"),
    });
    expect([readFileSync(at("project/kept"), "utf8"), existsSync(at("project/new"))]).toEqual(["kept", false]);
    expect(readFileSync(at("project/.vscode/settings.json"), "utf8")).toBe("{}");
  });

  it("that the owner's tools run are named when they are written", async () => {
    await using env = await open({ project_root: "project" });
    expect(await write(env, ".vscode/tasks.json", "{}")).toMatchObject({
      tooling_files: [{ path: ".vscode/tasks.json", change: "new" }],
      warnings: [expect.stringContaining("see tooling_files")],
    });
    expect(await write(env, "plain", "x")).toMatchObject({ tooling_files: [], warnings: [] });
    expect(await env.run(["true"])).toMatchObject({ tooling_files: [] });
  });

  it("lead nowhere out of the container, also while a program exchanges them with links", async () => {
    await using env = await open({ project_root: "project" });
    const secret = path.join(at("beside"), "secret");
    await env.sh(`ln -s ${secret} link; ln -s ${at("beside")} out; echo inside >mine; ln -s loop loop`);
    expect(await refusal(read(env, "link"))).toMatchObject({ errorType: "NOT_FOUND" });
    expect(await refusal(list(env, "out"))).toMatchObject({ errorType: "NOT_FOUND" });
    expect(await refusal(read(env, "../../../..//beside/secret"))).toMatchObject({ errorType: "NOT_FOUND" });
    expect(await refusal(read(env, "loop"))).toMatchObject({ errorType: "INVALID_REQUEST" });
    expect(await refusal(write(env, "link", "inside\n"))).toMatchObject({ errorType: "NOT_FOUND" });
    const exchange = `while :; do ln -sfn ${secret} swap; mv -T swap turn; cp mine swap; mv -T swap turn; sleep 0.05; done`;
    const { process_id } = await glovebox().processes.start({ env_id: env.id, command: ["sh", "-c", exchange] });
    const seen = new Set<unknown>();
    for (let turn = 0; turn < 4; turn += 1) {
      seen.add(
        await read(env, "turn").then(
          ({ content }) => content,
          (error: unknown) => (error as { readonly errorType: string }).errorType,
        ),
      );
      await write(env, "turn", `inside ${turn}\n`).catch(() => undefined);
    }
    for (const one of seen) expect(String(one)).toMatch(/^(inside( \d)?\n|NOT_FOUND|INVALID_REQUEST|POLICY_DENIED)$/);
    await glovebox().processes.stop({ env_id: env.id, process_id });
    expect(readFileSync(secret, "utf8")).toBe("of the host alone");
    expect(statSync(at("beside")).nlink).toBe(2);
  });

  it("without an end, of other kinds, in deep and in wide folders are answered in bounds", async () => {
    await using env = await open();
    const make = [
      "mkfifo fifo; ln -s /dev/zero zero; mkdir wide; cd wide; touch $(seq 1500); cd ..",
      "i=0; while [ $i -lt 300 ]; do mkdir d; cd d; i=$((i+1)); done; echo x >f",
    ].join("; ");
    expect(await env.sh(make)).toMatchObject({ exit_code: 0 });
    for (const name of ["fifo", "zero", "/dev/zero", "wide"]) {
      expect(await refusal(read(env, name)), name).toMatchObject({ errorType: "INVALID_REQUEST" });
    }
    expect(await refusal(write(env, "fifo", "x"))).toMatchObject({ errorType: "INVALID_REQUEST" });
    const wide = await list(env, "wide");
    expect([wide.files.length, wide.truncated]).toEqual([1000, true]);
    expect(await read(env, `${"d/".repeat(300)}f`)).toMatchObject({ content: "x\n" });
    const { process_id } = await glovebox().processes.start({ env_id: env.id, command: ["sh", "-c", "yes >grows"] });
    const sizeOf = async (wanted: string): Promise<number> =>
      (await list(env)).files.find(({ path: name }) => name === wanted)?.size_bytes ?? 0;
    await until(async () => (await sizeOf("grows")) > 0);
    expect((await read(env, "grows", { limit: 100_000 })).content.length).toBeLessThanOrEqual(100_000);
    await glovebox().processes.stop({ env_id: env.id, process_id, signal: "SIGKILL" });
    expect(await env.run(["true"])).toMatchObject({ restarted: false });
  });

  it("are at hand in a new container when the last one went away, which is said", async () => {
    await using env = await open({ project_root: "project" });
    await write(env, "stays", "x");
    await write(env, "/tmp/goes", "x");
    removeContainer(engine, env.container_id);
    await expect(read(env, "stays")).resolves.toMatchObject({
      ...{ content: "x", restarted: true, warnings: [expect.stringContaining("new container")] },
    });
    expect(await refusal(read(env, "/tmp/goes"))).toMatchObject({ errorType: "NOT_FOUND" });
    expect(await env.run(["true"])).toMatchObject({ restarted: false, warnings: [] });
  });
});
