import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { DefineBehaviour, Topic } from "./behaviour.ts";

/** What the kernel counts for each user, as the program of the tests names it, and what it is. */
const kinds = {
  watch: "instances of inotify",
  timer: "POSIX timers",
  pending: "queued signals",
  queue: "POSIX message queues",
  descriptor: "descriptors on their way through sockets",
  pipe: "full pages of pipes",
  lock: "locked shared memory",
} as const;

const program = (...parameters: readonly string[]): readonly string[] =>
  fixtureProgram("takes-what-users-share.py", ...parameters);

/** A program that has taken all it can holds it while a program in another container asks for one. */
function leavesOthersTheirs(behaviour: DefineBehaviour, kind: keyof typeof kinds): void {
  behaviour(
    `user-shares.${kind}`,
    `a program that takes all ${kinds[kind]} leaves other containers theirs`,
    async (scene) => {
      const { python: image } = scene.subject.images;
      const [greedy, other] = await Promise.all([scene.idle({ image }), scene.idle({ image })]);
      const taking = await scene.exec(greedy, program("take", kind));
      await taking.until("stdout", "\n");
      const { stdout, stderr } = await scene.run(other, program("use", kind));
      expect(`${stdout.toString()}${stderr.toString()}`, taking.text("stdout")).toBe("had\n");
    },
  );
}

/** What a program of this machine says that asks for one, as this user. */
async function useOnHost(kind: keyof typeof kinds, uid: number): Promise<string> {
  const [file = "", ...args] = program("use", kind);
  const { stdout } = await promisify(execFile)(file, args, { uid, cwd: "/", env: { PATH: process.env["PATH"] } });
  return stdout;
}

/** A person of this machine: whoever runs the tests, or somebody whom root can become. */
function somebody(): number {
  const uid = process.getuid?.() ?? 0;
  return uid === 0 ? 54_321 : uid;
}

/** What is counted for each user is each container's own (SPEC SC11). */
export const userShares: Topic = (behaviour) => {
  for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) leavesOthersTheirs(behaviour, kind);

  behaviour("user-shares.pressure", "programs cannot see or watch the machine's pressure", async (scene) => {
    const { stdout } = await scene.run(await scene.shared(), ["sh", "-c", "ls /proc/pressure 2>/dev/null | wc -l"]);
    expect(stdout.toString().trim()).toBe("0");
  });

  behaviour("user-shares.person", "whoever runs Glovebox keeps half of the instances of inotify", async (scene) => {
    const container = await scene.idle({ image: scene.subject.images.python });
    const taking = await scene.exec(container, program("take", "watch"));
    await taking.until("stdout", "\n");
    expect(await useOnHost("watch", process.getuid?.() ?? 0), taking.text("stdout")).toBe("had\n");
  });

  behaviour(
    "user-shares.owner",
    "an owner on whose behalf programs run keeps most of what limits of processes bound",
    async (scene) => {
      const uid = somebody();
      const container = await scene.idle({ image: scene.subject.images.python, processUser: `${uid}:${uid}` });
      for (const kind of ["timer", "pending", "queue", "lock"] as const) {
        const taking = await scene.exec(container, program("take", kind));
        await taking.until("stdout", "\n");
        expect(await useOnHost(kind, uid), `${kind}: ${taking.text("stdout")}`).toBe("had\n");
        await taking.process.kill("SIGKILL");
      }
    },
    { capability: "execUser" },
  );

  behaviour(
    "user-shares.limits",
    "no program has more of what its user has than a person would miss",
    async (scene) => {
      const container = await scene.idle();
      const { stdout } = await scene.run(container, ["cat", "/proc/self/limits"]);
      const hard = (name: string): number =>
        Number(new RegExp(`^Max ${name} +\\d+ +(\\d+)`, "m").exec(stdout.toString())?.[1]);
      expect(hard("pending signals"), stdout.toString()).toBeLessThanOrEqual(1_024);
      expect(hard("msgqueue size"), stdout.toString()).toBeLessThanOrEqual(262_144);
      expect(hard("locked memory"), stdout.toString()).toBeLessThanOrEqual(65_536);
    },
  );
};
