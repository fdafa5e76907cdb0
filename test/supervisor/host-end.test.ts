import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { Duplex, Readable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { SupervisorChannel } from "../../src/engines/supervised/channel/channel.ts";
import type { SupervisorTerms } from "../../src/engines/supervised/channel/hello.ts";
import { FolderFiles } from "../../src/engines/supervised/folder-files.ts";
import { supervisorBinary } from "../../src/engines/supervised/supervisor-binary.ts";
import { GloveboxError } from "../../src/errors/glovebox-error.ts";
import { spawnFilter } from "../../src/policy/seccomp/spawn-filter.ts";
import { hostileProgram, whyNoSupervisor } from "../helpers/supervisor/binaries.ts";
import { programUser, systemLinks } from "../helpers/supervisor/supervised.ts";

const reason = whyNoSupervisor();
const hostile = "/tmp/hostile";
const programs = { user: programUser, group: programUser };

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

// Both ends as they are shipped, with the filter.
describe.skipIf(reason !== undefined)(`the shipped supervisor and the host's end ${reason ?? ""}`, () => {
  let child: ChildProcess;
  let channel: SupervisorChannel;

  const start = (terms: Partial<SupervisorTerms> = {}): void => {
    const { path, build, architecture } = supervisorBinary(process.arch);
    const { program: filter, probes } = spawnFilter(architecture);
    const capabilities = ["SETUID", "SETGID", "KILL", "SETPCAP"].flatMap((name) => ["--cap-add", `CAP_${name}`]);
    child = spawn(
      "bwrap",
      [
        ...["--die-with-parent", "--as-pid-1", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts"],
        ...["--cap-drop", "ALL", ...capabilities, "--clearenv", "--ro-bind", "/usr", "/usr", ...systemLinks],
        ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chmod", "1777", "/tmp"],
        ...["--ro-bind", hostileProgram(), hostile, "--ro-bind", path, "/tmp/supervisor", "/tmp/supervisor"],
      ],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    channel = new SupervisorChannel({
      transport: Duplex.from({ readable: child.stdout!, writable: child.stdin! }),
      epoch: 4711,
      terms: {
        ...{ build, mode: "apart", architecture, becomes: null, own: { user: 0, group: 0 }, capabilities: 0xe0n },
        ...{ programs, tags: null, filter, probes, facts: ["SUBREAPER"] },
        ...terms,
      },
      explain: async (end) => ({ error: new GloveboxError("SANDBOX_LOST", end.detail), isGone: true }),
    });
  };
  /** Its process has ended. */
  const gone = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) await once(child, "close");
  };
  afterEach(async () => {
    await channel.close();
    // The end of its stream is the supervisor's; bubblewrap must not be killed before it has set up its own.
    await gone();
  });

  const run = async (command: readonly string[], input = "") => {
    const program = await channel.spawn({
      ...{ ...programs, command, folder: "/", environment: { PATH: "/usr/bin:/bin" } },
    });
    program.stdin.end(input);
    let output = "";
    for await (const { bytes } of program.output) output += Buffer.from(bytes).toString();
    return { output, ...(await program.exit) };
  };

  it("agree about who is who", async () => {
    start();
    expect(await channel.hello()).toMatchObject({ mode: "apart" });
    expect(await run(["sh", "-c", "cat; exit 3"], "text")).toMatchObject({ output: "text", code: 3 });
  });

  it.each([
    [{ build: "0".repeat(32) }, "build"],
    [{ capabilities: 0x1e0n }, "capabilities"],
    [{ mode: "shared" }, "mode"],
  ] as const)("do not agree when one is not what the other expects: %o", async (terms, what) => {
    start(terms);
    await expect(channel.hello()).rejects.toThrow(what);
  });

  it("pass files and archives", async () => {
    start();
    await channel.hello();
    const files = new FolderFiles(() => channel, { folder: "/tmp", ...programs });
    await files.write("d/e/file", Readable.from([Buffer.from("content")]), { makesFolders: true });
    const archive = await bytesOf(files.pack("d"));
    await files.unpack("new/folder", Readable.from([archive]), { makesFolders: true });
    expect((await bytesOf((await files.read("new/folder/e/file")).bytes)).toString()).toBe("content");
    await expect(files.unpack("new", Readable.from([Buffer.alloc(100)]))).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
    });
    await expect(files.look("missing")).rejects.toMatchObject({ errorType: "NOT_FOUND" });
  });

  it("count datagrams alike", async () => {
    start();
    await channel.hello();
    let came = 0;
    const listener = await channel.listen(0, 4, {
      ...{ kind: "datagrams", onDatagram: (_, port) => (came++, port) },
    });
    const started = await listener.started;
    const port = started.isBound ? String(started.port) : "";
    // More than all windows together hold.
    for (let round = 0; round < 8; round++) await run([hostile, "rains", port, "4096", "10"]);
    await run([hostile, "rains", port, "0", "10"]);
    await channel.ping();
    expect(came).toBeGreaterThan(40);
    await listener.close();
    expect(channel.isOver).toBe(false);
  });

  it("say what is used, and end together", async () => {
    start();
    await channel.hello();
    expect((await channel.numbers()).processes).toBeGreaterThan(1);
    const program = await channel.spawn({
      ...{ ...programs, command: [hostile, "daemon"], folder: "/", environment: {} },
    });
    await program.exit;
    expect((await channel.left()).count).toBe(1);
    await channel.endAll(10);
    expect((await channel.ended).reason).toBe("asked");
  });

  it("end at once when the last stream does", async () => {
    const waitsMs: number[] = [];
    for (let round = 0; round < 5; round++) {
      start();
      await channel.hello();
      const onConnection = (connection: Duplex): void => void connection.destroy();
      const listener = await channel.listen(0, 4, { kind: "connections", onConnection });
      await listener.started;
      const ending = channel.endAll(10);
      await setTimeout(50);
      const begunMs = performance.now();
      void listener.close();
      await ending;
      expect((await channel.ended).reason).toBe("asked");
      waitsMs.push(performance.now() - begunMs);
      await gone();
    }
    // Pid 1 looks around each second by itself: what waits for that takes as long.
    expect(waitsMs.toSorted((one, other) => one - other)[2]).toBeLessThan(900);
  });
});
