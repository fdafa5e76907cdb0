import { duplexPair, type Duplex } from "node:stream";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text as textOf } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { settlesWithin } from "../../base/abort.ts";
import { keeperCommand } from "./keeper-script.ts";
import { Keeper } from "./keeper.ts";

function frame(text: string, stream = 1): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(text.length, 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

function ignore(): void {
  // Broken ends are part of the tests.
}

function open(): { keeper: Keeper; far: Duplex } {
  const [near, far] = duplexPair();
  for (const each of [near, far]) each.on("error", ignore);
  return { keeper: new Keeper(near), far };
}

describe("Keeper", () => {
  it("asks, and reads the answer in pieces", async () => {
    const { keeper, far } = open();
    const asked = keeper.ask();
    const [request] = (await once(far, "data")) as [Buffer];
    expect(request.toString()).toBe("1\n");
    far.write(frame("1 10"));
    far.write(frame("0 200 3 6 \n"));
    expect(await asked).toEqual({
      stats: { memoryBytes: 100, memoryPeakBytes: 200, oomKills: 3 },
      number: 6,
      processes: null,
    });
  });

  it("gives each its own answer, and null for what is not counted", async () => {
    const { keeper, far } = open();
    const both = Promise.all([keeper.ask(), keeper.ask({ uid: "1000" })]);
    far.resume();
    far.write(frame("2 2 - - 6 3\n1 1 1 0 6 \nnoise\n"));
    expect(await both).toEqual([
      { stats: { memoryBytes: 1, memoryPeakBytes: 1, oomKills: 0 }, number: 6, processes: null },
      { stats: { memoryBytes: 2, memoryPeakBytes: null, oomKills: null }, number: 6, processes: 3 },
    ]);
  });

  it("knows when the keeper has gone, before and after", async () => {
    const { keeper, far } = open();
    const asked = keeper.ask();
    far.destroy();
    expect(await asked).toBe("gone");
    expect(await keeper.ask()).toBe("gone");
    await keeper.ended;
  });

  it.each([
    ["a line without an end", frame("x".repeat(200))],
    ["an answer that nobody asked for", frame("1 1 1 0 6 \n1 1 1 0 6 \n")],
    ["an answer in another form", frame("1 1e9 1 0 6 \n")],
    ["an answer to no question", frame("one 1 1 0 6 \n")],
    ["complaints without end", frame("x".repeat(70_000), 2)],
  ])("lets the container end for %s", async (_, said) => {
    const { keeper, far } = open();
    const asked = keeper.ask();
    far.resume();
    far.write(said);
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
      expect.stringMatching(/^7 (\d+|-) (\d+|-) (\d+|-) \d+ $/),
      expect.stringMatching(/^8 (\d+|-) (\d+|-) (\d+|-) \d+ [1-9]\d*$/),
      expect.stringMatching(/^9 (\d+|-) (\d+|-) (\d+|-) \d+ \d+$/),
    ]);
  });
});
