import { execFile } from "node:child_process";
import { access, chmod, chown, readFile, symlink, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect } from "vitest";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import { outcomeOf } from "../helpers/outcome-of.ts";
import { isNobodysUser } from "../helpers/nobodys-user.ts";
import type { Topic } from "./behaviour.ts";
import { HostFolder } from "./host-folder.ts";

const run = promisify(execFile);

/** Files of this machine, as far as the engine supports them. */
export const mounts: Topic = (behaviour) => {
  const needs = { capability: "hostPaths" } as const;

  behaviour(
    "mounts.read-only",
    "a read-only mount can be read but not changed, not even by its owner inside",
    async (scene) => {
      await using folder = await HostFolder.make();
      const container = await scene.idle({
        mounts: [
          { source: folder.path, target: "/data/in", readOnly: true },
          { source: folder.at("file"), target: "/work/file", readOnly: true },
        ],
      });
      const read = await scene.run(container, ["cat", "/data/in/file", "/work/file"]);
      expect(read.stdout.toString()).toBe("host\nhost\n");
      const { stdout } = await scene.run(container, fixtureProgram("writes-into.sh", "/data/in", "/data/in/open"));
      expect(stdout.toString()).toBe("refused /data/in\nrefused /data/in/open\n");
      for (const command of ["echo x >/data/in/file", "echo x >/work/file", "rm /data/in/file", "chmod 777 /data/in"]) {
        expect((await scene.run(container, ["sh", "-c", command])).exitCode, command).not.toBe(0);
      }
      // In gVisor no program is root.
      if (scene.capabilities.execUser && scene.subject.ownKernel !== true) {
        const asRoot = await scene.run(container, ["sh", "-c", "echo x >/data/in/file; mount -o remount,rw /data/in"], {
          user: "0:0",
        });
        expect(asRoot.exitCode).not.toBe(0);
      }
      expect(await readFile(folder.at("file"), "utf8")).toBe("host\n");
    },
    needs,
  );

  behaviour(
    "mounts.read-only-below",
    "the operator's own mounts below it are not writable either",
    async (scene) => {
      await using folder = await HostFolder.make();
      await run("mount", ["-t", "tmpfs", "-o", "mode=777", "test", folder.at("open")]);
      try {
        const container = await scene.idle({ mounts: [{ source: folder.path, target: "/data", readOnly: true }] });
        await scene.run(container, ["sh", "-c", "echo x >/data/open/new"]);
        await expect(access(folder.at("open/new"))).rejects.toThrow("ENOENT");
        const { stdout } = await scene.run(container, fixtureProgram("writes-into.sh", "/data/open"));
        expect(stdout.toString()).toBe("refused /data/open\n");
      } finally {
        await run("umount", [folder.at("open")]);
      }
    },
    needs,
  );

  behaviour(
    "mounts.writable",
    "a writable mount is the host's own folder, and changes appear at once on both sides",
    async (scene) => {
      await using folder = await HostFolder.make();
      const container = await scene.idle({
        mounts: [{ source: folder.at("open"), target: "/out", readOnly: false }],
      });
      const { exitCode } = await scene.run(container, ["sh", "-c", "echo inside >/out/made"]);
      expect(exitCode).toBe(0);
      expect(await readFile(folder.at("open/made"), "utf8")).toBe("inside\n");
      await writeFile(folder.at("open/late"), "outside\n", { mode: 0o644 });
      const { stdout } = await scene.run(container, ["cat", "/out/late"]);
      expect(stdout.toString()).toBe("outside\n");
    },
    needs,
  );

  behaviour(
    "mounts.no-setuid",
    "a setuid program in it does not grant another user's rights",
    async (scene) => {
      await using folder = await HostFolder.make();
      const container = await scene.idle({
        mounts: [{ source: folder.at("open"), target: "/out", readOnly: false }],
      });
      await scene.run(container, ["sh", "-c", "cat /bin/cat >/out/cat"]);
      await chown(folder.at("open/cat"), 0, 0);
      await chmod(folder.at("open/cat"), 0o4755);
      const { stdout } = await scene.run(container, ["/out/cat", "/proc/self/status"]);
      const [, ...uids] = /^Uid:\t(\d+)\t(\d+)\t(\d+)\t/m.exec(stdout.toString()) ?? [];
      expect(uids).toHaveLength(3);
      expect(uids.filter(isNobodysUser)).toEqual(uids);
    },
    needs,
  );

  behaviour(
    "mounts.no-devices",
    "a device in it cannot be opened",
    async (scene) => {
      await using folder = await HostFolder.make();
      // The memory of the machine.
      await run("mknod", ["-m", "666", folder.at("open/device"), "c", "1", "1"]);
      const container = await scene.idle({ mounts: [{ source: folder.at("open"), target: "/out", readOnly: false }] });
      expect((await scene.run(container, ["sh", "-c", ": </out/device"])).exitCode).not.toBe(0);
    },
    needs,
  );

  behaviour(
    "mounts.unchanging",
    "a folder that never changes can be read but not changed, wherever the engine is",
    async (scene) => {
      await using folder = await HostFolder.make();
      await writeFile(folder.at("open/deep"), "deep\n", { mode: 0o444 });
      for (const name of ["file", "open/deep"]) await chmod(folder.at(name), 0o444);
      for (const name of ["open", "."]) await chmod(folder.at(name), 0o555);
      const container = await scene.idle({
        mounts: [{ source: folder.path, target: "/data", readOnly: true, unchanging: true }],
      });
      const read = await scene.run(container, ["cat", "/data/file", "/data/open/deep"]);
      expect(read.stdout.toString(), read.stderr.toString()).toBe("host\ndeep\n");
      const { stdout } = await scene.run(container, fixtureProgram("writes-into.sh", "/data", "/data/open"));
      expect(stdout.toString().match(/refused /g)).toHaveLength(2);
      for (const command of ["echo x >/data/file", "rm -f /data/file", "mv /data/open /data/other"]) {
        expect((await scene.run(container, ["sh", "-c", command])).exitCode, command).not.toBe(0);
      }
      expect(await readFile(folder.at("file"), "utf8")).toBe("host\n");
      await container.remove();
      expect(await readFile(folder.at("open/deep"), "utf8")).toBe("deep\n");
    },
  );

  behaviour(
    "mounts.identity",
    "a mount is the expected one, or the container is removed before a program runs in it",
    async (scene) => {
      await using folder = await HostFolder.make();
      const [right, other] = await Promise.all([folder.identityOf("open"), folder.identityOf("")]);
      const target = "/deep/down/data";
      const mount = { source: folder.at("open"), target, readOnly: false };
      const container = await scene.idle({ mounts: [{ ...mount, identity: right }] });
      expect(container.mountsVerified).toBe(true);
      expect((await scene.run(container, ["ls", target])).exitCode).toBe(0);
      const wrong = [
        { ...other, heldAt: right.heldAt },
        { ...right, inode: other.inode },
        { ...right, device: right.device + 1n },
        { ...right, place: other.place },
        { ...right, place: { device: "0:0", root: right.place?.root ?? "" } },
      ];
      for (const identity of wrong) {
        const started = scene.idle({ mounts: [{ ...mount, identity }] });
        expect(await outcomeOf(started)).toMatchObject({ errorType: "POLICY_DENIED", context: { rule: "changed" } });
      }
      for (const identity of wrong) {
        const started = scene.idle({ mounts: [{ ...mount, identity: { ...identity, heldAt: null } }] });
        expect(await outcomeOf(started)).toMatchObject({ errorType: "POLICY_DENIED", context: { rule: "changed" } });
      }
      expect(await scene.containers()).toHaveLength(1);
      const readOnly = await scene.idle({ mounts: [{ ...mount, readOnly: true, identity: right }] });
      expect(readOnly.mountsVerified).toBe(true);
      expect((await scene.run(readOnly, ["touch", `${target}/made`], { user: "0:0" })).exitCode).not.toBe(0);
      const byName = await scene.idle({ mounts: [{ ...mount, identity: { ...right, heldAt: null } }] });
      expect(byName.mountsVerified).toBe(true);
      const unnamed = await scene.idle({ mounts: [{ ...mount, identity: { ...right, heldAt: null, place: null } }] });
      expect(unnamed.mountsVerified).toBe(false);
      const withCommand = scene.create({ command: ["true"], mounts: [{ ...mount, identity: right }] });
      expect(await outcomeOf(withCommand)).toMatchObject({ errorType: "INVALID_REQUEST" });
    },
    { capability: "images" },
  );

  behaviour(
    "mounts.missing",
    "a source that is missing or a symbolic link is an error, and nothing is created",
    async (scene) => {
      await using folder = await HostFolder.make();
      await symlink(folder.path, folder.at("link"));
      const refused = (name: string): Promise<unknown> =>
        scene.create({ mounts: [{ source: folder.at(name), target: "/data", readOnly: true }] });
      await expect(refused("missing")).rejects.toMatchObject({ errorType: "NOT_FOUND" });
      await expect(refused("link")).rejects.toMatchObject({ errorType: "PERMISSION_DENIED" });
      await expect(access(folder.at("missing"))).rejects.toThrow("ENOENT");
      expect(await scene.containers()).toEqual([]);
    },
    needs,
  );
};
