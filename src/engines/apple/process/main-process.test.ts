import { once } from "node:events";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MainProcess } from "./main-process.ts";

const kill = async (): Promise<void> => undefined;
const lost = new Error("The container is gone.");

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note).on("uncaughtException", note);
});

afterEach(() => {
  process.off("unhandledRejection", note).off("uncaughtException", note);
});

/** Everything that the event loop still has in hand of promises and streams. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
}

describe("the main process of a container", () => {
  it.each([
    ["before it was given up", true],
    ["after it was given up", false],
  ])("drops what was written %s, without an error, when there was never a program", async (_, early) => {
    const main = new MainProcess(kill);
    const { stdin } = main.process;
    if (!early) main.abandon(lost);
    stdin.write("for nobody");
    stdin.end("this neither");
    if (early) main.abandon(lost);
    await once(stdin, "finish");
    await settle();
    expect(unhandled).toEqual([]);
    expect(stdin.errored).toBeNull();
  });

  it("ends without output, and tells why only to those who ask how it ended", async () => {
    const main = new MainProcess(kill);
    const output = main.process.output[Symbol.asyncIterator]();
    const first = output.next();
    main.abandon(lost);
    expect(await first).toEqual({ done: true, value: undefined });
    await settle();
    expect(unhandled).toEqual([]);
    await expect(main.process.exit).rejects.toBe(lost);
  });

  it("gives a program that begins all that was written before", async () => {
    const main = new MainProcess(kill);
    main.process.stdin.write("first ");
    main.process.stdin.end("second");
    const stdin = new PassThrough();
    main.begin({ stdin, output: new PassThrough().end(), exit: Promise.resolve({ exitCode: 3 }) });
    expect((await stdin.toArray()).join("")).toBe("first second");
    expect(await main.process.exit).toEqual({ exitCode: 3 });
  });
});
