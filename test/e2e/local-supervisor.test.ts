import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createId } from "../../src/base/id.ts";
import { mebibyte } from "../../src/base/bytes.ts";
import type { Container, Engine } from "../../src/engines/engine.ts";
import { subjects } from "../engine-contract/subjects.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { RunningProcess } from "../helpers/running-process.ts";
import { skipOrFail } from "../helpers/require.ts";

/** Below these are users of accounts, services and their subordinate ranges. */
const firstOfNobody = 1_900_000_000;

let engine: Engine | undefined;
afterAll(() => engine?.close());

async function sandbox(): Promise<Container> {
  engine ??= await subjects.local.make();
  const container = await engine.create({
    name: createId("supervisor"),
    image: "host",
    workingDirectory: "/work",
    labels: {},
    limits: { cpus: 1, memoryBytes: 256 * mebibyte, pids: 64 },
    scratch: [{ path: "/work", sizeBytes: 16 * mebibyte }],
  });
  await container.start();
  return container;
}

async function run(container: Container, ...command: readonly string[]): Promise<string> {
  const { stdout } = await new RunningProcess(await container.exec({ command })).finish();
  return stdout.toString();
}

interface HostProcess {
  readonly id: number;
  readonly parent: number;
  readonly user: number;
  readonly inner: number;
  readonly network: string;
}

/** Processes of the host in the process-id namespace of a sandbox, as the host sees them. */
function processesIn(namespace: string): readonly HostProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        if (readlinkSync(`/proc/${name}/ns/pid`) !== namespace) return [];
        const status = readFileSync(`/proc/${name}/status`, "latin1");
        const field = (key: string): number[] =>
          (new RegExp(`^${key}:\\s+(.*)$`, "m").exec(status)?.[1] ?? "").split(/\s+/).map(Number);
        const network = readlinkSync(`/proc/${name}/ns/net`);
        const [parent = 0] = field("PPid");
        return [{ id: Number(name), parent, user: field("Uid")[0] ?? 0, inner: field("NSpid").at(-1) ?? 0, network }];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}

/** The namespaces of a sandbox's programs. */
async function namespacesOf(container: Container): Promise<{ readonly pid: string; readonly net: string }> {
  const said = await run(container, "sh", "-c", "readlink /proc/self/ns/pid /proc/self/ns/net");
  const [pid = "", net = ""] = said.trim().split("\n");
  return { pid, net };
}

describe("the supervisor of a sandbox on local", () => {
  beforeEach(async (context) => {
    if (process.getuid?.() !== 0) context.skip("what the host sees of other users' processes only root is shown");
    engine ??= await subjects.local.make();
    const probe = await engine.probe();
    if (!probe.available) skipOrFail(context, "local", probe.reason);
  });

  it("is one for all programs, and neither it nor they are anybody on the host", async () => {
    // With a supervisor that is not what it must be, only the level below is left.
    expect(await engine?.capabilities()).toMatchObject({ isolation: "namespaces", supervisor: "apart" });
    const [one, other] = [await sandbox(), await sandbox()];
    const sleepers = await Promise.all([1, 2, 3].map(() => one.exec({ command: ["sleep", "1000"] })));
    const { pid } = await namespacesOf(one);
    const inside = processesIn(pid);
    const supervisors = inside.filter(({ inner }) => inner === 1);
    expect(supervisors).toHaveLength(1);
    const [{ user: root, id } = { user: 0, id: 0 }] = supervisors;
    // Its stream, its diagnostics, its signals, and what its programs and helpers say: nothing that it was born with.
    const held = readdirSync(`/proc/${id}/fd`).map((name) => readlinkSync(`/proc/${id}/fd/${name}`));
    expect(held.filter((link) => !/^(?:socket|pipe|anon_inode):/.test(link))).toEqual([]);
    const users = new Set(inside.map(({ user }) => user));
    expect(users.size).toBe(2);
    for (const user of users) expect(user).toBeGreaterThanOrEqual(firstOfNobody);
    // Each program has a warden, which is the supervisor's child and user.
    const programs = inside.filter(({ user }) => user !== root);
    expect(programs).toHaveLength(3);
    for (const { parent } of programs) {
      expect(inside.find((each) => each.id === parent)).toMatchObject({ user: root, parent: id });
    }
    const others = processesIn((await namespacesOf(other)).pid).map(({ user }) => user);
    expect(others.filter((user) => users.has(user))).toEqual([]);
    await Promise.all(sleepers.map((sleeper) => sleeper.kill("SIGKILL")));
    await Promise.all([one, other].map((container) => container.remove()));
  });

  it("takes everything along when the host kills it, and what is asked then is SANDBOX_LOST", async () => {
    const container = await sandbox();
    const sleeper = await container.exec({ command: ["sh", "-c", "setsid sleep 1000 & exec sleep 1000"] });
    const { pid, net } = await namespacesOf(container);
    const supervisor = processesIn(pid).find(({ inner }) => inner === 1);
    process.kill(supervisor?.id ?? Number.NaN, "SIGKILL");
    await failureOf(sleeper.exit, "SANDBOX_LOST");
    await failureOf(container.exec({ command: ["true"] }), "SANDBOX_LOST");
    expect(processesIn(pid)).toEqual([]);
    const networks = readdirSync("/proc").map((name) => {
      try {
        return readlinkSync(`/proc/${name}/ns/net`);
      } catch {
        return "";
      }
    });
    expect(networks).not.toContain(net);
    expect(await container.isAlive()).toBe(false);
    await container.remove();
  });

  it("begins anew after its end, with the files of before and nothing else", async () => {
    const container = await sandbox();
    await run(container, "sh", "-c", "echo kept >/work/kept; sleep 1000 >/dev/null 2>&1 &");
    await container.stop(0);
    await container.start();
    const commands = await run(container, "sh", "-c", "cat /work/kept; cat /proc/[0-9]*/comm | sort -u");
    expect(commands).toMatch(/^kept\n(?:cat|sh|sort|supervisor|\n)+$/);
    await container.remove();
  });

  it("leaves this process no descriptor more than it had", async () => {
    const open = (): number => readdirSync("/proc/self/fd").length;
    await (await sandbox()).remove();
    // The next user namespace is made in the background.
    await sleep(1000);
    const before = open();
    for (let round = 0; round < 5; round++) {
      const container = await sandbox();
      await run(container, "true");
      await container.remove();
    }
    await expect.poll(open, { timeout: 10_000 }).toBeLessThanOrEqual(before);
  });
});
