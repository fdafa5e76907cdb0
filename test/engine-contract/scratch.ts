import { expect } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Topic } from "./behaviour.ts";

/** The size that a file system reached before it refused more. */
function filledTo(output: Buffer): number {
  const lines = output.toString().trim().split("\n");
  return Number(lines.at(-1));
}

/** Scratch and shared memory can be written up to their size. */
export const scratch: Topic = (behaviour) => {
  behaviour(
    "scratch.folders",
    "scratch is empty at first, open to everyone, and programs in it can be run",
    async (scene) => {
      const container = await scene.idle();
      const { stdout } = await scene.run(container, [
        "sh",
        "-c",
        "ls -A /work /tmp | grep -v :; stat -c '%a %n' /work /tmp",
      ]);
      expect(stdout.toString().trim()).toBe("1777 /work\n1777 /tmp");
      const script = "printf '#!/bin/sh\\necho ran\\n' >/work/program && chmod 755 /work/program && /work/program";
      expect((await scene.run(container, ["sh", "-c", script])).stdout.toString()).toBe("ran\n");
    },
  );

  behaviour(
    "scratch.closed",
    "the next program finds the scratch folders open, whatever permissions a program gave them",
    async (scene) => {
      const container = await scene.idle();
      for (const mode of ["0", "1000", "444"]) {
        await scene.run(container, ["sh", "-c", "echo kept >/work/kept; chmod $0 /work /tmp /dev/shm; exit 0", mode]);
        const { stdout, stderr } = await scene.run(container, [
          "sh",
          "-c",
          "cat kept && echo new >/tmp/new && ls /work",
        ]);
        expect([stdout.toString(), stderr.toString()], mode).toEqual(["kept\nkept\n", ""]);
      }
    },
    { capability: "programs" },
  );

  behaviour("scratch.limit", "scratch accepts data up to its size, and then says that it is full", async (scene) => {
    const container = await scene.idle({ scratch: [{ path: "/work", sizeBytes: 8 * mebibyte }] });
    const { stdout, stderr } = await scene.run(container, fixtureProgram("fills-a-file.sh", "/work/fill", "32"));
    expect(stderr.toString()).toContain("No space left on device");
    expect(filledTo(stdout)).toBeLessThanOrEqual(8 * mebibyte);
    // A file system may keep a few pages for its own records.
    expect(filledTo(stdout)).toBeGreaterThan(7.5 * mebibyte);
  });

  behaviour("scratch.limits-apart", "each scratch folder has its own size", async (scene) => {
    const scratch = [
      { path: "/work", sizeBytes: 4 * mebibyte },
      { path: "/tmp", sizeBytes: 8 * mebibyte },
    ];
    const container = await scene.idle({ scratch });
    for (const { path, sizeBytes } of scratch) {
      const { stdout } = await scene.run(container, fixtureProgram("fills-a-file.sh", `${path}/fill`, "32"));
      expect(filledTo(stdout), path).toBeLessThanOrEqual(sizeBytes);
      expect(filledTo(stdout), path).toBeGreaterThan(sizeBytes - mebibyte / 2);
    }
  });

  behaviour(
    "scratch.large",
    "scratch of more than half of the memory limit has its size, is empty and open to everyone, and goes with its container",
    async (scene) => {
      const spec = scene.spec({ scratch: [{ path: "/work", sizeBytes: 136 * mebibyte }] });
      const container = await scene.idle(spec);
      const look = ["sh", "-c", "cd /work && ls -A && stat -c %a . && echo left >left"];
      expect((await scene.run(container, look)).stdout.toString()).toBe("1777\n");
      const { stdout, stderr } = await scene.run(container, fixtureProgram("fills-a-file.sh", "/work/fill", "160"));
      expect(stderr.toString()).toContain("No space left on device");
      expect(filledTo(stdout)).toBeLessThanOrEqual(136 * mebibyte);
      // A file system keeps some of a disk for its own records.
      expect(filledTo(stdout)).toBeGreaterThan(120 * mebibyte);
      await container.remove();
      const second = await scene.idle(spec);
      expect((await scene.run(second, look)).stdout.toString()).toBe("1777\n");
    },
    { capability: "programs" },
  );

  behaviour("scratch.private", "scratch goes with its container, and no other container sees it", async (scene) => {
    const spec = scene.spec();
    const first = await scene.idle(spec);
    const other = await scene.idle();
    await scene.run(first, ["sh", "-c", "echo secret >/work/left; echo secret >/tmp/left; echo secret >/dev/shm/left"]);
    const look = ["sh", "-c", "ls -A /work /tmp /dev/shm | grep left"];
    expect((await scene.run(first, look)).stdout.toString()).not.toBe("");
    expect((await scene.run(other, look)).stdout.toString()).toBe("");
    await first.remove();
    const second = await scene.idle({ name: spec.name });
    expect((await scene.run(second, look)).stdout.toString()).toBe("");
  });

  behaviour("scratch.shared-memory", "/dev/shm has the requested size", async (scene) => {
    const container = await scene.idle({ sharedMemoryBytes: 2 * mebibyte });
    const { stdout, stderr } = await scene.run(container, fixtureProgram("fills-a-file.sh", "/dev/shm/fill", "32"));
    expect(stderr.toString()).toContain("No space left on device");
    expect(filledTo(stdout)).toBeLessThanOrEqual(2 * mebibyte);
    expect(filledTo(stdout)).toBeGreaterThan(mebibyte);
  });

  behaviour(
    "scratch.shared-memory-default",
    "/dev/shm has at most an eighth of the memory by default",
    async (scene) => {
      const memoryBytes = (scene.subject.smallMemoryMb ?? 128) * mebibyte;
      const container = await scene.idle({ limits: { memoryBytes } });
      const { stdout } = await scene.run(container, fixtureProgram("fills-a-file.sh", "/dev/shm/fill", "64"));
      expect(filledTo(stdout)).toBeLessThanOrEqual(memoryBytes / 8);
      expect(filledTo(stdout)).toBeGreaterThan(memoryBytes / 16);
    },
  );

  behaviour("scratch.inodes", "empty files fill scratch up too", async (scene) => {
    const container = await scene.idle({
      image: scene.subject.images.python,
      scratch: [{ path: "/work", sizeBytes: 4 * mebibyte }],
    });
    const { stdout } = await scene.run(container, fixtureProgram("makes-empty-files.py", "/work", "20000"));
    expect(stdout.toString()).toMatch(/^\d+ ENOSPC\n$/);
  });
};
