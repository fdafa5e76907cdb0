import { duplexPair, type Duplex } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import type { StartedProgram } from "../../inside/running-container.ts";
import { attachProcess, type AttachedProcessOptions, type ProgramEnd } from "./attached-process.ts";
import { RuntimeFailureFilter } from "./runtime-failure.ts";

function frame(type: number, payload: Uint8Array | string): Buffer {
  const bytes = Buffer.from(payload);
  const header = Buffer.alloc(8);
  header[0] = type;
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

function ignore(): void {
  // Broken ends are part of the tests.
}

interface Attached {
  readonly process: StartedProgram;
  /** The engine's end of the stream. */
  readonly engine: Duplex;
  readonly end: PromiseWithResolvers<ProgramEnd>;
}

function attach(changes: Partial<AttachedProcessOptions> = {}): Attached {
  const [socket, engine] = duplexPair();
  for (const each of [socket, engine]) each.on("error", ignore);
  const end = Promise.withResolvers<ProgramEnd>();
  const process = attachProcess({
    socket,
    filter: null,
    lastWords: /^x$/,
    awaitEnd: () => end.promise,
    ...changes,
  });
  return { process, engine, end };
}

async function read({ output }: StartedProgram): Promise<string> {
  let all = "";
  for await (const { stream, bytes } of output) all += `${stream}:${Buffer.from(bytes).toString()};`;
  return all;
}

describe("attachProcess", () => {
  it("gives output to the end of the stream, and the exit", async () => {
    const { process, engine, end } = attach();
    engine.write(frame(1, "out"));
    engine.end(frame(2, "err"));
    end.resolve({ exitCode: 3 });
    expect(await read(process)).toBe("stdout:out;stderr:err;");
    expect(await process.exit).toEqual({ exitCode: 3 });
  });

  it("passes input on, and its end, while output goes on", async () => {
    const { process, engine, end } = attach();
    process.stdin.write("one ");
    process.stdin.end("two");
    expect(await textOf(engine)).toBe("one two");
    engine.end(frame(1, "late"));
    end.resolve({ exitCode: 0 });
    expect(await read(process)).toBe("stdout:late;");
  });

  it("holds the engine up while nobody reads, and lets go when somebody does", async () => {
    const { process, engine, end } = attach();
    const piece = frame(1, Buffer.alloc(65_536));
    let written = 0;
    const flooding = (async () => {
      for (; written < 100; written += 1) {
        if (!engine.write(piece)) await new Promise((resolve) => engine.once("drain", resolve));
      }
      engine.end();
    })();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(written).toBeLessThan(20);
    let received = 0;
    const reading = (async () => {
      for await (const { bytes } of process.output) received += bytes.length;
    })();
    await Promise.all([flooding, reading]);
    expect(received).toBe(100 * 65_536);
    end.resolve({ exitCode: 0 });
  });

  it("tells the exit though nobody reads, and keeps what was left in the stream", async () => {
    const { process, engine, end } = attach();
    for (let count = 0; count < 10; count += 1) engine.write(frame(1, Buffer.alloc(65_536)));
    end.resolve({ exitCode: 9 });
    expect(await process.exit).toEqual({ exitCode: 9 });
    engine.end();
    let received = 0;
    for await (const { bytes } of process.output) received += bytes.length;
    expect(received).toBe(655_360);
  });

  it("ends the output soon after the program when a child keeps the stream open", async () => {
    const { process, engine, end } = attach();
    engine.write(frame(1, "main"));
    end.resolve({ exitCode: 0 });
    expect(await read(process)).toBe("stdout:main;");
  });

  it("ends the output when a child left behind floods the stream", async () => {
    const { process, engine, end } = attach();
    let stopped = false;
    engine.on("close", () => (stopped = true));
    const flood = (): void => {
      if (!stopped) engine.write(frame(1, Buffer.alloc(65_536)), () => setImmediate(flood));
    };
    flood();
    end.resolve({ exitCode: 0 });
    let received = 0;
    for await (const { bytes } of process.output) received += bytes.length;
    stopped = true;
    expect(received).toBeLessThan(8 * 1_048_576);
  });

  it("ends output and exit when nobody can tell the end", async () => {
    const { process, end } = attach();
    end.reject(new Error("lost"));
    await expect(process.exit).rejects.toThrow("lost");
    expect(await read(process)).toBe("");
  });

  it("fails the exit of a stream that is not framed", async () => {
    const { process, engine } = attach();
    engine.write("HTTP/1.1 500 Oh no");
    await expect(process.exit).rejects.toMatchObject({ errorType: "INTERNAL" });
  });

  it("swallows input for a program that has ended", async () => {
    const { process, engine, end } = attach();
    engine.end();
    end.resolve({ exitCode: 0 });
    await process.exit;
    const errors: unknown[] = [];
    process.stdin.on("error", (error) => errors.push(error));
    await new Promise<void>((resolve) => process.stdin.write("more", () => resolve()));
    await new Promise<void>((resolve) => process.stdin.end("end", () => resolve()));
    expect(errors).toEqual([]);
  });

  it("lets a broken connection end the output", async () => {
    const { process, engine, end } = attach({ awaitEnd: (streamEnd) => streamEnd.then(() => end.promise) });
    engine.destroy(new Error("reset"));
    end.resolve({ exitCode: 137 });
    expect(await process.exit).toEqual({ exitCode: 137 });
    expect(await read(process)).toBe("");
  });

  it("puts the reason why a program was never started on stderr, in the runtime's place", async () => {
    const filter = new RuntimeFailureFilter({ stream: "stdout", prefixes: ["OCI "], exitCodes: null });
    const ending = { exitCode: 127, failure: "x: not found" };
    const { process, engine } = attach({ filter, awaitEnd: (streamEnd) => streamEnd.then(() => ending) });
    engine.end(frame(1, "OCI runtime said no"));
    expect(await read(process)).toBe("stderr:x: not found\n;");
    expect(await process.exit).toEqual({ exitCode: 127 });
  });

  it("leaves the words alone when a program wrote them", async () => {
    const filter = new RuntimeFailureFilter({ stream: "stdout", prefixes: ["OCI "], exitCodes: null });
    const { process, engine, end } = attach({ filter });
    engine.end(frame(1, "OCI is a word"));
    end.resolve({ exitCode: 126 });
    expect(await read(process)).toBe("stdout:OCI is a word;");
  });

  it("empties the stream of a program that is being killed, though nobody reads", async () => {
    const killed = Promise.withResolvers<void>();
    const { process, engine, end } = attach({ killed: killed.promise });
    let written = 0;
    let arrived = 0;
    const block = frame(1, Buffer.alloc(65_536));
    // More than what waits for a consumer at most; the rest is held up.
    for (; written < 16; written += 1) engine.write(block, () => (arrived += 1));
    const emptied = new Promise((resolve) => engine.once("drain", resolve));
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    expect(arrived).toBeLessThan(written);
    killed.resolve();
    await emptied;
    end.resolve({ exitCode: 137 });
    expect(await process.exit).toEqual({ exitCode: 137 });
  });
});
