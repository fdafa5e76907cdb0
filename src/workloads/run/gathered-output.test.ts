import { afterEach, expect, it, vi } from "vitest";
import type { OutputChunk } from "../../engines/engine.ts";
import { gatheredOutput } from "./watch-process.ts";

afterEach(() => void vi.useRealTimers());

/** Output that a test writes, and what has been read of it. */
function scene() {
  const waiting: OutputChunk[] = [];
  let wake = Promise.withResolvers<void>();
  let end: { readonly error?: Error } | null = null;
  const state = { isGivenUp: false };
  async function* output(): AsyncGenerator<OutputChunk, void, undefined> {
    try {
      for (;;) {
        for (let chunk = waiting.shift(); chunk !== undefined; chunk = waiting.shift()) yield chunk;
        if (end?.error !== undefined) throw end.error;
        if (end !== null) return;
        await wake.promise;
        wake = Promise.withResolvers();
      }
    } finally {
      state.isGivenUp = true;
    }
  }
  const seen: string[] = [];
  const read = async (): Promise<void> => {
    for await (const { stream, bytes } of gatheredOutput(output()))
      seen.push(`${stream}:${Buffer.from(bytes).toString()}`);
  };
  const write = (stream: OutputChunk["stream"], text: string): void => {
    waiting.push({ stream, bytes: Buffer.from(text) });
    wake.resolve();
  };
  const finish = (error?: Error): void => {
    end = error === undefined ? {} : { error };
    wake.resolve();
  };
  return { output, seen, read, write, finish, state };
}

it("comes in whole lines, and in the order in which both streams were written", async () => {
  vi.useFakeTimers();
  const { seen, read, write, finish } = scene();
  const done = read();
  for (const text of ["a", "b\nc", "\n", "d"]) write("stdout", text);
  await vi.advanceTimersByTimeAsync(0);
  expect(seen.splice(0)).toEqual(["stdout:ab\n", "stdout:c\n"]);
  write("stderr", "e");
  await vi.advanceTimersByTimeAsync(0);
  expect(seen.splice(0)).toEqual(["stdout:d"]);
  write("stdout", "f\ng");
  await vi.advanceTimersByTimeAsync(0);
  expect(seen.splice(0)).toEqual(["stderr:e", "stdout:f\n"]);
  finish();
  await done;
  expect(seen).toEqual(["stdout:g"]);
});

it("does not wait longer than a moment for the end of a line, however often more of it comes", async () => {
  vi.useFakeTimers();
  const { seen, read, write, finish } = scene();
  const done = read();
  for (let piece = 0; piece < 10; piece += 1) {
    write("stdout", String(piece));
    await vi.advanceTimersByTimeAsync(10);
  }
  expect(seen[0]).toBe("stdout:01234");
  await vi.advanceTimersByTimeAsync(50);
  expect(seen.join("").replaceAll("stdout:", "")).toBe("0123456789");
  finish();
  await done;
});

it("holds no line that has no end, and copies none that came whole", async () => {
  const { seen, read, write, finish } = scene();
  const done = read();
  for (let piece = 0; piece < 40; piece += 1) write("stdout", "x".repeat(1_024));
  finish();
  await done;
  expect(seen).toHaveLength(5);
  const chunk = { stream: "stdout", bytes: Buffer.from("whole\n") } as const;
  async function* one(): AsyncGenerator<OutputChunk, void, undefined> {
    yield chunk;
  }
  for await (const { bytes } of gatheredOutput(one())) expect(bytes.buffer).toBe(chunk.bytes.buffer);
});

it("loses nothing of what came before it breaks off", async () => {
  const { seen, read, write, finish } = scene();
  const done = read();
  write("stderr", "last words");
  finish(new Error("gone"));
  await expect(done).rejects.toThrow("gone");
  expect(seen).toEqual(["stderr:last words"]);
});

it("is given up at once, though more may come", async () => {
  const { output, write, state } = scene();
  write("stdout", "a");
  for await (const chunk of gatheredOutput(output())) {
    expect(Buffer.from(chunk.bytes).toString()).toBe("a");
    break;
  }
  write("stdout", "b");
  await vi.waitFor(() => expect(state.isGivenUp).toBe(true));
});
