import { FileNotFoundError, FilesystemEventType, Sandbox, type FilesystemEvent } from "e2b";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openE2bScene, type E2bScene, type SandboxAddress } from "../helpers/e2b-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";

describe("E2B's watched folders on local", () => {
  useGlovebox("local");
  let scene: E2bScene;
  let sandbox: Sandbox;
  let address: SandboxAddress;
  beforeAll(async () => {
    scene = await openE2bScene();
    sandbox = await Sandbox.create();
    const { body } = await scene.ask(`GET /sandboxes/${sandbox.sandboxId}`);
    address = { id: sandbox.sandboxId, token: String(body["envdAccessToken"]) };
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  /** The answer to a call of the polling form. */
  const ask = async (
    method: string,
    body: object,
    to = address,
  ): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> => {
    const response = await scene.askSandbox(to, `POST /filesystem.Filesystem/${method}`, {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
  };
  const eventsOf = async (watcherId: unknown): Promise<readonly string[]> => {
    const { body } = await ask("GetWatcherEvents", { watcherId });
    return (body["events"] as readonly { readonly type: string; readonly name: string }[]).map(
      ({ type, name }) => `${type.slice(11)} ${name}`,
    );
  };

  it("tell the unmodified SDK what is made, written, renamed and removed, with entries, until it stops", async () => {
    await sandbox.files.makeDir("streamed/sub");
    const events: FilesystemEvent[] = [];
    const handle = await sandbox.files.watchDir("streamed", (event) => void events.push(event), {
      ...{ recursive: true, includeEntry: true, allowNetworkMounts: true },
    });
    await sandbox.files.write("streamed/sub/a.txt", "12345", { metadata: { author: "mish" } });
    await sandbox.commands.run("cd streamed; mkdir new; echo 1 > new/b; mv new/b c; rm -r sub");
    const told = (): string[] => events.map(({ type, name }) => `${type} ${name}`);
    await expect.poll(told).toContain("remove sub");
    expect(told()).toEqual(
      expect.arrayContaining(["create sub/a.txt", "write sub/a.txt", "create new", "create c", "rename new/b"]),
    );
    const written = events.find(({ type, name }) => type === FilesystemEventType.WRITE && name === "sub/a.txt");
    expect(written?.entry).toMatchObject({ path: "/home/user/streamed/sub/a.txt", size: 5, type: "file" });
    const count = events.length;
    await handle.stop();
    const isWatched = async (): Promise<boolean> =>
      (await sandbox.commands.run("grep -aqs watch-tre[e] /proc/[0-9]*/cmdline && echo yes || echo no")).stdout ===
      "yes\n";
    await expect.poll(isWatched, { timeout: 10_000 }).toBe(false);
    await sandbox.files.write("streamed/late.txt", "x");
    expect(events).toHaveLength(count);
  });

  it("tell by asking all that happened before, each once, and nothing to others", async () => {
    await sandbox.files.makeDir("polled");
    const { body } = await ask("CreateWatcher", { path: "polled" });
    const { watcherId } = body;
    expect(await eventsOf(watcherId)).toEqual([]);
    await sandbox.files.write("polled/a.txt", "1");
    expect((await eventsOf(watcherId)).toSorted()).toEqual(["CHMOD a.txt", "CREATE a.txt", "WRITE a.txt"]);
    await sandbox.files.write("polled/a.txt", "2");
    expect(await eventsOf(watcherId)).toEqual(["WRITE a.txt"]);
    expect(await eventsOf(watcherId)).toEqual([]);
    const theirs = await Sandbox.create({ apiKey: scene.other.text });
    const { body: row } = await scene.ask(`GET /sandboxes/${theirs.sandboxId}`, undefined, { key: scene.other.text });
    const other = { id: theirs.sandboxId, token: String(row["envdAccessToken"]) };
    for (const method of ["GetWatcherEvents", "RemoveWatcher"]) {
      expect(await ask(method, { watcherId }, other)).toMatchObject({ status: 404, body: { code: "not_found" } });
      expect((await ask(method, { watcherId }, { ...address, token: other.token })).status).toBe(401);
    }
    expect((await ask("RemoveWatcher", { watcherId })).status).toBe(200);
    expect((await ask("GetWatcherEvents", { watcherId })).status).toBe(404);
    await theirs.kill();
  });

  it("are folders, and bounded: so many of them, and so many changes that are not asked for", async () => {
    await expect(sandbox.files.watchDir("missing", () => undefined)).rejects.toThrow(FileNotFoundError);
    await sandbox.files.write("file.txt", "x");
    await expect(sandbox.files.watchDir("file.txt", () => undefined)).rejects.toThrow("is not a directory");
    for (const path of ["", "a\0b", "x".repeat(5000), 7]) {
      expect((await ask("CreateWatcher", { path })).status, String(path).slice(0, 9)).toBe(400);
    }
    await sandbox.files.makeDir("flooded");
    const flooded = await ask("CreateWatcher", { path: "flooded" });
    await sandbox.commands.run("i=0; while [ $i -lt 2500 ]; do : > flooded/$i; rm flooded/$i; i=$((i+1)); done");
    const { watcherId } = flooded.body;
    const refused = await ask("GetWatcherEvents", { watcherId });
    expect(refused).toMatchObject({ status: 429, body: { code: "resource_exhausted" } });
    const made: unknown[] = [];
    let last = await ask("CreateWatcher", { path: "/home/user" });
    for (; last.status === 200; last = await ask("CreateWatcher", { path: "/home/user" }))
      made.push(last.body["watcherId"]);
    expect(last.body).toMatchObject({ code: "resource_exhausted", message: expect.stringContaining("16 folders") });
    expect(made).toHaveLength(16);
    for (const id of made) await ask("RemoveWatcher", { watcherId: id });
    await expect.poll(async () => (await ask("CreateWatcher", { path: "/home/user" })).status).toBe(200);
  });
});
