import pino from "pino";
import { expect } from "vitest";
import { settlesWithin } from "../../src/base/abort.ts";
import { mebibyte } from "../../src/base/bytes.ts";
import { rootWatch, watchDisk, type DiskExcess } from "../../src/workloads/run/watch-disk.ts";
import type { Container } from "../../src/engines/engine.ts";
import type { Topic } from "./behaviour.ts";

/** A root that programs may change, if the engine can measure how much they write. */
export const writableRoot: Topic = (behaviour) => {
  const needs = { capability: "diskLimit" } as const;

  behaviour(
    "writable-root.private",
    "what is written to it is visible to the container's other programs, and to no other container",
    async (scene) => {
      const spec = { scratch: [], workingDirectory: "/", writableRoot: { folders: ["/made/below", "/tmp"] } };
      const [first, second] = [await scene.idle(spec), await scene.idle(spec)];
      await scene.run(first, ["sh", "-c", "echo kept >/made/below/file; echo kept >/tmp/file"]);
      const { stdout } = await scene.run(first, ["cat", "/made/below/file", "/tmp/file"]);
      expect(stdout.toString()).toBe("kept\nkept\n");
      expect((await scene.run(second, ["ls", "-A", "/made/below"])).stdout.toString()).toBe("");
    },
    needs,
  );

  behaviour(
    "writable-root.owners",
    "only what its users may change can be changed",
    async (scene) => {
      const container = await scene.idle({ scratch: [], workingDirectory: "/", writableRoot: { folders: [] } });
      for (const command of ["echo x >/etc/passwd", ": >/new", "rm /bin/sh"]) {
        expect((await scene.run(container, ["sh", "-c", command])).exitCode, command).not.toBe(0);
      }
    },
    needs,
  );

  behaviour(
    "writable-root.measured",
    "the number of written bytes can be read",
    async (scene) => {
      const container = await scene.idle({
        scratch: [],
        workingDirectory: "/",
        writableRoot: { folders: ["/tmp"] },
      });
      expect(await container.writtenBytes()).toBeLessThan(mebibyte);
      await scene.run(container, ["dd", "if=/dev/zero", "of=/tmp/file", "bs=1M", "count=20"]);
      const written = await container.writtenBytes();
      expect(written).toBeGreaterThanOrEqual(20 * mebibyte);
      expect(written).toBeLessThan(22 * mebibyte);
    },
    needs,
  );

  behaviour(
    "writable-root.commit",
    "its files can be made into an image, by a root with what installers need, which containers of that image do not have",
    async (scene) => {
      const installer = await scene.idle({
        scratch: [],
        workingDirectory: "/",
        processUser: "0:0",
        rootCapabilities: ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETUID", "SETGID"],
        writableRoot: { folders: [] },
      });
      await scene.run(installer, ["sh", "-c", "echo made >/made && chown 77:78 /made && chmod 640 /made"]);
      const image = await installer.commit({ "glovebox.test": scene.owner });
      try {
        const container = await scene.idle({ image, scratch: [], workingDirectory: "/", processUser: "77:78" });
        const { stdout } = await scene.run(container, ["sh", "-c", "cat /made; grep CapBnd /proc/self/status"]);
        expect(stdout.toString()).toBe("made\nCapBnd:\t0000000000000000\n");
        await container.remove();
      } finally {
        await scene.engine.images.remove(image);
      }
      expect(await scene.engine.images.has(image)).toBe(false);
      await scene.engine.images.remove(image);
    },
    needs,
  );

  behaviour(
    "writable-root.commit-owner",
    "what programs wrote to it is theirs in containers of an image of it",
    async (scene) => {
      const own = { scratch: [], workingDirectory: "/made", writableRoot: { folders: ["/made"] } };
      const first = await scene.idle(own);
      await scene.run(first, ["sh", "-c", "umask 077; echo one >file"]);
      const image = await first.commit({ "glovebox.test": scene.owner });
      const others: Container[] = [];
      try {
        for (const line of ["one", "one"]) {
          const container = await scene.idle({ ...own, image });
          others.push(container);
          const { stdout, stderr } = await scene.run(container, [
            "sh",
            "-c",
            "cat file; echo two >>file; tail -n 1 file",
          ]);
          expect(`${stdout.toString()}${stderr.toString()}`).toBe(`${line}\ntwo\n`);
        }
      } finally {
        for (const container of others) await container.remove();
        await scene.engine.images.remove(image);
      }
    },
    needs,
  );

  behaviour(
    "writable-root.files",
    "empty files that programs leave in it are counted, and too many are found",
    async (scene) => {
      const container = await scene.idle({
        image: scene.subject.images.python,
        scratch: [],
        workingDirectory: "/",
        writableRoot: { folders: ["/made"] },
      });
      const { execPath: executable, platform } = process;
      const giveUp = new AbortController();
      const found = new Promise<DiskExcess>((resolve) => {
        void watchDisk({
          sandbox: {
            id: container.id,
            writtenBytes: (options) => container.writtenBytes(options),
            writtenFolder: (options) => container.writtenFolder(options),
          },
          limitBytes: 1024 ** 3,
          growth: null,
          watchRoot: rootWatch({ executable, platform, now: Date.now }, 3_000),
          isBusy: () => true,
          onExceeded: resolve,
          logger: pino({ level: "silent" }),
          signal: giveUp.signal,
        });
      });
      try {
        const few = "for n in range(500): open(f'/made/few-{n}', 'w').close()";
        await scene.run(container, ["python3", "-c", few]);
        expect(await settlesWithin(found, 4_000)).toBe(false);
        const many =
          "import os\nfor n in range(4000): os.mkdir(f'/made/{n}') if n % 2 else os.symlink('x', f'/made/{n}')";
        await scene.run(container, ["python3", "-c", many]);
        expect(await settlesWithin(found, 30_000)).toBe(true);
        expect(await found).toMatchObject({ what: "files", limit: 3_000, inProject: 0 });
      } finally {
        giveUp.abort();
      }
    },
    needs,
  );

  behaviour(
    "writable-root.of-root",
    "programs that are root own it, but can neither signal nor see the process that keeps the container up",
    async (scene) => {
      const container = await scene.idle({
        scratch: [],
        workingDirectory: "/",
        processUser: "0:0",
        writableRoot: { folders: [] },
      });
      expect((await scene.run(container, ["sh", "-c", "echo x >/etc/new && cat /etc/new"])).stdout.toString()).toBe(
        "x\n",
      );
      await scene.run(container, ["sh", "-c", "kill -9 -1; sleep 0.2"]);
      const { exitCode } = await scene.run(container, ["sh", "-c", "cat /proc/1/environ"]);
      expect(exitCode).not.toBe(0);
      const victim = await scene.exec(container, ["sleep", "1000"]);
      await victim.process.kill("SIGKILL");
      expect(await victim.process.exit).toEqual({ exitCode: 137 });
    },
    needs,
  );
};
