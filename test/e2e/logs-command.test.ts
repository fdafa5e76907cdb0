import { once } from "node:events";
import net, { type AddressInfo, type Socket } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connect } from "../../src/index.ts";
import { runCommand, type CommandOptions, type CommandResult } from "../helpers/run-command.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import { until } from "../helpers/until.ts";

interface Entry {
  readonly offset: number;
  readonly stream: string;
  readonly message: string;
}

let served: ServedGlovebox;
beforeAll(async () => void (served = await serveGlovebox()));
afterAll(() => served[Symbol.asyncDispose]());

const logs = (argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> =>
  runCommand(["logs", ...argv], {
    ...options,
    environment: { GLOVEBOX_URL: served.url, GLOVEBOX_KEY: served.token },
  });

const ownState = (): Record<string, string> => ({ XDG_STATE_HOME: path.join(served.home, "state") });

/** Runs as another process of the server's user on the same machine. */
const ownLogs = (argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> =>
  runCommand(["logs", ...argv], { ...options, environment: ownState() });

/** A program that prints a line of each kind, and then keeps running until its sandbox is removed. */
async function startProgram(): Promise<string> {
  const code = [
    "import sys, time",
    "print('one \\x1b[31m', flush=True); print('bad', file=sys.stderr, flush=True); print('two', flush=True)",
    "time.sleep(600)",
  ].join("\n");
  const headers = { authorization: `Bearer ${served.token}`, "content-type": "application/json" };
  const answer = await fetch(`${served.url}/api/sandbox/execute`, {
    method: "POST",
    headers: { ...headers, prefer: "respond-async" },
    body: JSON.stringify({ language: "python", code, timeout_seconds: 600 }),
  });
  const { sandbox_id: id } = (await answer.json()) as { readonly sandbox_id: string };
  await until(async () => JSON.stringify((await served.call("GET", `/api/sandbox/${id}/logs`)).body).includes('"two"'));
  return id;
}

it("prints what is there, each stream on its own, and follows a log to its end", async () => {
  const id = await startProgram();
  const there = await logs([id]);
  expect(there).toMatchObject({ exitCode: 0, stdout: "one \u001b[31m\ntwo\n" });
  expect(there.stderr).toMatch(/^glovebox: sandbox \S+ created .*\nglovebox: run \S+ started .*\nbad\n$/);

  let isRemoved = false;
  const followed = await logs([id, "-f", "--json", "--offset", "3"], {
    onOutput: (_, soFar) => {
      if (isRemoved || !soFar.includes('"two"')) return;
      isRemoved = true;
      void served.call("DELETE", `/api/sandbox/${id}`);
    },
  });
  expect(followed).toMatchObject({ exitCode: 0, stderr: "" });
  const entries = followed.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Entry);
  expect(entries.map(({ offset }) => offset)).toEqual(entries.map((_, index) => 3 + index));
  expect(entries.at(-1)).toMatchObject({ stream: "system", message: `sandbox ${id} removed` });

  expect(await logs([id, "--stream", "stdout", "--since", "1h"])).toMatchObject({ stdout: "one \u001b[31m\ntwo\n" });
  expect(await logs([id, "--since", "2999-01-01"])).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
});

it("says what is wrong by the option's name, and that there is no such log", async () => {
  expect(await logs(["sbx-1", "--offset", "x"])).toMatchObject({ exitCode: 2, stdout: "" });
  const none = await logs(["sbx-none"]);
  expect(none).toMatchObject({ exitCode: 125, stdout: "" });
  expect(none.stderr).toContain("There is no log of a sandbox sbx-none");
  expect((await ownLogs(["sbx-none"])).stderr).toContain("There is no log of a sandbox sbx-none");
});

it("reads and follows the log of another process of the user, without its server", async () => {
  const id = await startProgram();
  // It is the only one.
  const there = await ownLogs([]);
  expect(there).toMatchObject({ exitCode: 0, stdout: "one \u001b[31m\ntwo\n" });
  const second = await startProgram();
  const unsure = await ownLogs([]);
  expect(unsure).toMatchObject({ exitCode: 2, stdout: "" });
  expect([unsure.stderr.includes(id), unsure.stderr.includes(second)]).toEqual([true, true]);

  let isRemoved = false;
  const removed: Promise<unknown>[] = [];
  const followed = await ownLogs([id, "-f", "--stream", "stdout"], {
    onOutput: (_, soFar) => {
      if (isRemoved || !soFar.includes("two")) return;
      isRemoved = true;
      removed.push(runCommand(["rm", id, second], { environment: ownState() }));
    },
  });
  expect(followed).toMatchObject({ exitCode: 0, stdout: "one \u001b[31m\ntwo\n", stderr: "" });
  expect(await Promise.all(removed)).toMatchObject([{ exitCode: 0, stdout: `${id}\n${second}\n` }]);
  // This works even after the sandbox has ended.
  expect((await ownLogs([id, "--json"])).stdout).toContain(`sandbox ${id} removed`);
});

it("a client continues after the last entry when its connection breaks", async () => {
  const id = await startProgram();
  await using way = await breakableWay(Number(new URL(served.url).port));
  const glovebox = connect({ url: `http://127.0.0.1:${way.port}`, key: served.token });
  const entries: Entry[] = [];
  const reading = (async () => {
    for await (const entry of glovebox.sandboxes.get(id).logs({ follow: true })) entries.push(entry);
  })();
  await until(() => entries.some(({ message }) => message === "two"));
  await until(() => way.connections > 0);
  way.breakAll();
  await served.call("DELETE", `/api/sandbox/${id}`);
  await reading;
  expect(entries.map(({ offset }) => offset)).toEqual(entries.map((_, index) => index));
  expect(entries.at(-1)?.message).toBe(`sandbox ${id} removed`);

  const there = [];
  for await (const entry of glovebox.sandboxes.get(id).logs({ from: 2, stream: "stdout" })) there.push(entry.message);
  expect(there).toEqual(["one \u001b[31m", "two"]);
  await glovebox.close();
});

// This test is the last one: it ends the server.
it("says that a log went with its process, and keeps what was read", async () => {
  const id = await startProgram();
  const followed = await ownLogs([id, "-f"], {
    onOutput: (_, soFar) => void (soFar.includes("two") && served.child.kill("SIGKILL")),
  });
  expect(followed).toMatchObject({ exitCode: 125, stdout: "one \u001b[31m\ntwo\n" });
  expect(followed.stderr).toMatch(/SANDBOX_LOST: The log of sbx-\S+ is gone, because its process has ended/);
});

/** A port that forwards to another one, with connections that can be broken. */
async function breakableWay(
  to: number,
): Promise<{ readonly port: number; readonly connections: number; breakAll(): void } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = net.createServer((near) => {
    const far = net.connect(to, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      socket.on("error", () => [near, far].forEach((each) => each.destroy()));
    }
    near.pipe(far).pipe(near);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const breakAll = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return sockets.size;
    },
    breakAll,
    [Symbol.asyncDispose]: async () => {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
