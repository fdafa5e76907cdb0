import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGlovebox, type Glovebox } from "../../src/index.ts";
import { failureOf } from "../helpers/failure-of.ts";

/** Two processes of one user that know each other: one has a sandbox, the other reaches it. */
describe("the way into another process's sandboxes", () => {
  const before = process.env["XDG_STATE_HOME"];
  let state: string;
  let owner: Glovebox;
  let other: Glovebox;
  let id: string;
  const peers = (): string => path.join(state, "glovebox", "peers");
  const socket = (): string => path.join(peers(), readdirSync(peers())[0] ?? "none");
  const open: Socket[] = [];

  beforeAll(async () => {
    state = mkdtempSync(path.join(tmpdir(), "glovebox-peers-"));
    process.env["XDG_STATE_HOME"] = state;
    owner = await createGlovebox({ engine: "local" });
    const session = await owner.sessions.open();
    ({ sandboxId: id } = await session.run({ language: "python", code: "print(1)" }));
    // If it were possible, files of this machine would be taken from the folder of the sockets.
    other = await createGlovebox({ engine: "local", workingDirectory: peers() });
  });
  afterAll(async () => {
    for (const each of open) each.destroy();
    await other.close();
    await owner.close();
    if (before === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = before;
    rmSync(state, { recursive: true });
  });

  it("is not a file that a sandbox can get, under any name", async () => {
    for (const name of [path.basename(socket()), socket(), `/proc/self/root${socket()}`]) {
      const run = other.execute({ language: "python", code: "1", contextFiles: [name] });
      const failure = await failureOf(Promise.resolve(run), "POLICY_DENIED");
      expect(failure.message).toMatch(/Glovebox/);
    }
    for (const place of [peers(), socket()]) {
      const { verdicts } = await other.mounts.check({ path: place });
      expect(verdicts.map(({ allowed }) => allowed)).toEqual(verdicts.map(() => false));
      expect(verdicts.length).toBeGreaterThan(0);
    }
  });

  it("is not held up by connections that say nothing, half a request, or nothing after they were let in", async () => {
    const half = "GET /2/exec_in_sandbox HTTP/1.1\r\nHost: x\r\n";
    const upgrade = "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (const said of ["", half, `${half}${upgrade}Sec-WebSocket-Version: 13\r\n\r\n`]) {
      const some = Array.from({ length: 100 }, () => connect(socket()));
      await Promise.all(some.map((each) => once(each, "connect")));
      for (const each of some) {
        each.on("error", () => undefined);
        each.write(said);
      }
      open.push(...some);
    }
    const { stdout } = await other.sandboxes.get(id).run(["echo", "still"]);
    expect(stdout).toBe("still\n");
  });

  it("gives no access to sandboxes that the process does not have", async () => {
    const session = await other.sessions.open();
    const { sandboxId } = await session.run({ language: "python", code: "print(2)" });
    expect((await owner.sandboxes.get(sandboxId).run(["echo", "there"])).stdout).toBe("there\n");
    await session.close();
    await failureOf(Promise.resolve(owner.sandboxes.get(sandboxId).run(["echo", "there"])), "NOT_FOUND");
    const log = owner.sandboxes.get(sandboxId).logs({ stream: "stdout" });
    expect(await log.next()).toMatchObject({ value: { message: "2" } });
    await log.return(undefined);
    await failureOf(owner.sandboxes.get("sbx-none").logs().next(), "NOT_FOUND");
  });
});
