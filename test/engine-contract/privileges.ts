import { lstat, readdir } from "node:fs/promises";
import { expect } from "vitest";
import type { Container } from "../../src/engines/engine.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import { outcomeOf } from "../helpers/outcome-of.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { until } from "../helpers/until.ts";
import type { Topic } from "./behaviour.ts";
import { HostFolder } from "./host-folder.ts";
import type { Scene } from "./scene.ts";

type Status = Readonly<Record<string, string>>;

function parseStatus(text: string): Status {
  return Object.fromEntries(text.split("\n").map((line) => line.split(/:\s*/, 2) as [string, string]));
}

/** What the status of a process without any capability shows, as far as its kernel shows it. */
function noCapabilities({ subject }: Scene): Status {
  return { ...noCapability, ...(subject.ownKernel === true ? {} : { CapAmb: noCapability.CapPrm }) };
}

function noNewPrivileges({ subject, capabilities }: Scene): Status {
  return subject.ownKernel === true || capabilities.noNewPrivileges !== "yes" ? {} : { NoNewPrivs: "1" };
}

async function statusIn(scene: Scene, container: Container, user?: string): Promise<Status> {
  const { stdout } = await scene.run(container, ["cat", "/proc/self/status"], { user });
  return parseStatus(stdout.toString());
}

const noCapability = {
  CapInh: "0000000000000000",
  CapPrm: "0000000000000000",
  CapEff: "0000000000000000",
  CapBnd: "0000000000000000",
};

/** A group by which the supervisor tells the trees of programs apart where a kernel has no child subreapers. */
function isTag(group: string): boolean {
  return Number(group) >= 2_000_000_000;
}

/** A program that tries to set one in scratch, and in a host folder that its user may write to where there are any, leaves none. */
async function expectNoSetuidBits(scene: Scene, user: string | undefined): Promise<void> {
  await using folder = await HostFolder.make();
  const { hostPaths } = scene.capabilities;
  const container = await scene.idle({
    image: scene.subject.images.python,
    mounts: hostPaths ? [{ source: folder.at("open"), target: "/out", readOnly: false }] : [],
  });
  for (const place of hostPaths ? ["/work", "/out"] : ["/work"]) {
    const tried = await scene.run(container, fixtureProgram("sets-setuid-bits.py", place), { user });
    expect(`${tried.stderr.toString()}${tried.stdout.toString()}`, place).toBe("setgid kept\n");
  }
  if (!hostPaths) return;
  const names = await readdir(folder.at("open"));
  // The files that it made are there, without the bit.
  expect(names).toContain("chmod");
  for (const name of names) expect((await lstat(folder.at(`open/${name}`))).mode & 0o4000, name).toBe(0);
}

/** Four times the same id: real, effective, saved, file system. */
function ids(id: number): string {
  return Array.from({ length: 4 }, () => id).join("\t");
}

/**
 * Below those of user namespaces without root, and in no range of accounts, services and containers; where containers have
 * users of their own, in their range.
 */
function expectNobodysId(status: Status, { subject: { ownUsers } }: Scene): void {
  const [uid = ""] = (status["Uid"] ?? "").split("\t");
  const { minimum, maximum } = ownUsers ?? { minimum: 65_527, maximum: 65_528 };
  expect(Number(uid)).toBeGreaterThanOrEqual(minimum);
  expect(Number(uid)).toBeLessThan(maximum);
  expect(status).toMatchObject({ Uid: ids(Number(uid)), Gid: ids(Number(uid)) });
}

/** Programs run as an ordinary user and cannot become another one. */
export const privileges: Topic = (behaviour) => {
  behaviour(
    "privileges.user",
    "programs run as a user and group that the host has not, in no other group",
    async (scene) => {
      const status = await statusIn(scene, await scene.shared());
      expectNobodysId(status, scene);
      const [gid = ""] = (status["Gid"] ?? "").split("\t");
      expect(
        (status["Groups"] ?? "")
          .trim()
          .split(/\s+/)
          .filter((group) => !["", gid].includes(group) && !(scene.subject.ownKernel === true && isTag(group))),
      ).toEqual([]);
    },
  );

  behaviour("privileges.main-user", "so does a main command", async (scene) => {
    const { main } = await scene.main(["cat", "/proc/self/status"]);
    const status = parseStatus((await main.finish()).stdout.toString());
    expectNobodysId(status, scene);
    expect(status).toMatchObject({ ...noCapabilities(scene), ...noNewPrivileges(scene) });
  });

  behaviour(
    "privileges.process-user",
    "the container's user is its programs' user, and an exec's own comes first",
    async (scene) => {
      const container = await scene.idle({ processUser: "1234:4321" });
      expect(await statusIn(scene, container)).toMatchObject({
        Uid: ids(1234),
        Gid: ids(4321),
        ...noCapabilities(scene),
      });
      expect(await statusIn(scene, container, "2345:5432")).toMatchObject({
        Uid: ids(2345),
        Gid: ids(5432),
        ...noCapabilities(scene),
      });
    },
    { capability: "execUser" },
  );

  behaviour(
    "privileges.exec-users",
    "programs that are added at the same time each run as the requested user, even one that the image does not know, and stay it",
    async (scene) => {
      const container = await scene.idle();
      const isNeverRoot = scene.subject.ownKernel === true;
      const asked = [1234, 65_534, 1, 1000, 2_147_483_646, ...(isNeverRoot ? [] : [0])].map((uid) => ({
        uid,
        gid: uid + 1,
      }));
      // After an exec of its own it is still the same user.
      const command = ["sh", "-c", "cat /proc/self/status; exec cat /proc/self/status"];
      const found = await Promise.all(
        asked.map(async ({ uid, gid }) => {
          const { stdout } = await scene.run(container, command, { user: `${uid}:${gid}` });
          return stdout.toString().split("\n");
        }),
      );
      asked.forEach(({ uid, gid }, index) => {
        const lines = found[index] ?? [];
        expect(lines.filter((line) => line.startsWith("Uid:"))).toEqual([`Uid:\t${ids(uid)}`, `Uid:\t${ids(uid)}`]);
        expect(lines.filter((line) => line.startsWith("Gid:"))).toEqual([`Gid:\t${ids(gid)}`, `Gid:\t${ids(gid)}`]);
      });
    },
    { capability: "execUser" },
  );

  behaviour(
    "privileges.chosen-users",
    "users are a caller's choice only where they are others to the host",
    async (scene) => {
      const { chosenUsers } = scene.capabilities;
      // Its processes are none of the host's.
      if (scene.subject.ownKernel === true) return expect(chosenUsers).toBeUndefined();
      const seconds = uniqueSeconds();
      const container = await scene.idle();
      const program = await container.exec({ command: ["sleep", seconds], user: "1234:4321" });
      await until(() => sleepersFor(seconds).length > 0);
      const [pid] = sleepersFor(seconds);
      const outside = (await lstat(`/proc/${pid}`)).uid;
      await program.kill("SIGKILL");
      expect(outside !== 1234).toBe(chosenUsers !== undefined);
    },
    { capability: "execUser" },
  );

  behaviour(
    "privileges.devices",
    "there is no device inside beyond null, zero, full, random and terminals",
    async (scene) => {
      const container = await scene.idle({ image: scene.subject.images.python });
      const { stdout } = await scene.run(container, fixtureProgram("lists-devices.py"));
      expect(stdout.toString()).toBe("standard ones seen: True\n");
    },
  );

  behaviour(
    "privileges.root",
    "root inside has no capability either",
    async (scene) => {
      const status = await statusIn(scene, await scene.shared(), "0:0");
      expect(status).toMatchObject({ Uid: ids(0), Gid: ids(0), ...noCapabilities(scene), ...noNewPrivileges(scene) });
    },
    { capability: "execUser" },
  );

  behaviour("privileges.capabilities", "programs have no capability and cannot get one", async (scene) => {
    expect(await statusIn(scene, await scene.shared())).toMatchObject(noCapabilities(scene));
  });

  behaviour(
    "privileges.no-new-privileges",
    "programs cannot gain privileges",
    async (scene) => {
      expect(await statusIn(scene, await scene.shared())).toMatchObject({ NoNewPrivs: "1" });
    },
    { capability: "noNewPrivileges" },
  );

  behaviour(
    "privileges.seccomp",
    "programs are under a seccomp filter",
    async (scene) => {
      expect(await statusIn(scene, await scene.shared())).toMatchObject({ Seccomp: "2" });
    },
    { capability: "seccomp" },
  );

  behaviour(
    "privileges.first-process-filter",
    "so is the first process",
    async (scene) => {
      const { stdout } = await scene.run(await scene.shared(), ["cat", "/proc/1/status"]);
      expect(parseStatus(stdout.toString())).toMatchObject({ Seccomp: "2" });
    },
    { capability: "seccomp" },
  );

  behaviour(
    "privileges.seccomp-denies",
    "a system call that the filter denies is an error and ends nothing",
    async (scene) => {
      const container = await scene.idle({ image: scene.subject.images.python });
      const { exitCode, stdout } = await scene.run(container, fixtureProgram("calls-keyctl.py"));
      expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: "EPERM\n" });
    },
    { capability: "seccomp" },
  );

  behaviour(
    "privileges.setuid-bits",
    "no system call of a program sets a file's setuid bit, not even in a folder of the host",
    (scene) => expectNoSetuidBits(scene, undefined),
    { capability: "setuidRefusal" },
  );

  behaviour(
    "privileges.setuid-bits-as-root",
    "nor does a system call of root",
    async (scene) => {
      if (!scene.capabilities.execUser) return expectNoSetuidBits(scene, undefined);
      await expectNoSetuidBits(scene, "0:0");
    },
    { capability: "setuidRefusal" },
  );

  behaviour(
    "privileges.installers",
    "if root has capabilities, programs can, and nothing of the host is writable",
    async (scene) => {
      const container = await scene.idle({ processUser: "0:0", rootCapabilities: ["CHOWN", "FOWNER"] });
      const made = await scene.run(container, ["sh", "-c", ": >/work/a && chmod 4755 /work/a && stat -c %a /work/a"]);
      expect(made.stdout.toString()).toBe("4755\n");
      await using folder = await HostFolder.make();
      const mount = { source: folder.path, target: "/out", readOnly: false };
      expect(await outcomeOf(scene.create({ rootCapabilities: [], mounts: [mount] }))).toMatchObject({
        errorType: "INVALID_REQUEST",
        context: { field: "mounts.readOnly" },
      });
    },
    { capability: "execUser" },
  );

  behaviour("privileges.first-process", "what /proc shows of process 1 is closed to programs", async (scene) => {
    const container = await scene.idle();
    const own = await scene.run(container, fixtureProgram("opens-memory-of.sh", "self"));
    expect(own.stdout.toString(), "a process can open its own").toBe("mem\nenviron\nmaps\nauxv\nroot\ncwd\nexe\nend\n");
    const first = await scene.run(container, fixtureProgram("opens-memory-of.sh", "1"));
    expect(first.stdout.toString()).toBe("end\n");
  });

  behaviour("privileges.host-processes", "programs see no process outside their container", async (scene) => {
    const container = await scene.idle();
    const { stdout } = await scene.run(container, ["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"]);
    expect(stdout.toString()).toContain("/proc/[0-9]*/cmdline");
    expect(stdout.toString()).not.toContain("vitest");
  });
};
