import { PassThrough } from "node:stream";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text as textOf } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { settlesWithin } from "../../base/abort.ts";
import { unknownStats } from "../container-stats.ts";
import type { OutputChunk, OutputStream } from "../engine.ts";
import { OutputQueue } from "../output-queue.ts";
import { keeperCommand } from "./keeper-script.ts";
import { Keeper } from "./keeper.ts";

/** The keeper, and the engine's end of its streams. */
function open(): { keeper: Keeper; said: OutputQueue; heard: PassThrough } {
  const said = new OutputQueue(() => undefined);
  const heard = new PassThrough();
  const close = (): void => {
    said.end();
    heard.destroy();
  };
  return { keeper: new Keeper({ stdin: heard, output: said, close }), said, heard };
}

function chunk(text: string, stream: OutputStream = "stdout"): OutputChunk {
  return { stream, bytes: Buffer.from(text) };
}

describe("Keeper", () => {
  it("asks, and reads the answer in pieces", async () => {
    const { keeper, said, heard } = open();
    const asked = keeper.ask();
    const [request] = (await once(heard, "data")) as [Buffer];
    expect(request.toString()).toBe("1\n");
    said.push(chunk("1 10"));
    said.push(chunk("0 200 3 1500 4096 0 6 \n"));
    const disk = { diskReadBytes: 4096, diskWriteBytes: 0 };
    expect(await asked).toEqual({
      stats: { memoryBytes: 100, memoryPeakBytes: 200, oomKills: 3, cpuTimeMs: 1.5, ...disk },
      number: 6,
      processes: null,
    });
  });

  it("gives each its own answer, and null for what is not counted", async () => {
    const { keeper, said } = open();
    const both = Promise.all([keeper.ask(), keeper.ask({ uid: "1000" })]);
    said.push(chunk("2 2 - - - - - 6 3\n1 1 1 0 - - - 6 \nnoise\n"));
    expect(await both).toEqual([
      { stats: { ...unknownStats, memoryBytes: 1, memoryPeakBytes: 1, oomKills: 0 }, number: 6, processes: null },
      { stats: { ...unknownStats, memoryBytes: 2 }, number: 6, processes: 3 },
    ]);
  });

  it("knows when the keeper has gone, before and after", async () => {
    const { keeper, said } = open();
    const asked = keeper.ask();
    said.end();
    expect(await asked).toBe("gone");
    expect(await keeper.ask()).toBe("gone");
    await keeper.ended;
  });

  it.each([
    ["a line without an end", chunk("x".repeat(300))],
    ["an answer that nobody asked for", chunk("1 1 1 0 0 0 0 6 \n1 1 1 0 0 0 0 6 \n")],
    ["an answer in another form", chunk("1 1e9 1 0 0 0 0 6 \n")],
    ["an answer to no question", chunk("one 1 1 0 0 0 0 6 \n")],
    ["complaints without end", chunk("x".repeat(70_000), "stderr")],
  ])("lets the container end for %s", async (_, words) => {
    const { keeper, said } = open();
    const asked = keeper.ask();
    said.push(words);
    expect(await settlesWithin(keeper.ended, 1_000)).toBe(true);
    await asked;
    expect(await keeper.ask()).toBe("gone");
  });

  it("gives a caller up that gives up", async () => {
    const { keeper } = open();
    await expect(keeper.ask({ signal: AbortSignal.abort() })).rejects.toMatchObject({ errorType: "CANCELLED" });
  });
});

describe("keeperScript", () => {
  it.skipIf(process.platform === "win32")("answers each line once and ends with its input", async () => {
    const [program = "", ...parameters] = keeperCommand([]);
    const child = spawn(program, parameters, { stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.end(`7\n8 ${process.getuid?.()}\n9 4294967294\n`);
    const lines = (await textOf(child.stdout)).trimEnd().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(/^7 ((\d+|-) ){6}\d+ $/),
      expect.stringMatching(/^8 ((\d+|-) ){6}\d+ [1-9]\d*$/),
      expect.stringMatching(/^9 ((\d+|-) ){6}\d+ \d+$/),
    ]);
  });
});
