import { PassThrough } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { BoundedOutput } from "../../base/streams/collected-bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { OutputChunk, Process } from "../../engines/engine.ts";
import { OutputQueue } from "../../engines/output-queue.ts";
import { Redaction } from "../../policy/redaction.ts";
import { OutputJoint } from "../../sandbox/sandbox-output.ts";
import { watchProcess, type RunLimits, type WatchedProcess } from "./watch-process.ts";

const limits: RunLimits = { timeoutMs: 5_000, drainMs: 20, monotonicMs: () => 0, end: () => Promise.resolve() };
const chunk = (text: string): OutputChunk => ({ stream: "stdout", bytes: Buffer.from(text) });

interface Scene {
  readonly heard: string[];
  readonly watched: WatchedProcess<BoundedOutput>;
}

function watch(
  output: AsyncIterable<OutputChunk>,
  exit: Process["exit"],
  onOutput?: (chunk: OutputChunk) => Promise<void>,
): Scene {
  const heard: string[] = [];
  const joint = new OutputJoint();
  joint.listen(({ bytes }) => void heard.push(Buffer.from(bytes).toString()));
  const watched = watchProcess({
    process: { stdin: new PassThrough(), output, exit, kill: () => Promise.resolve() },
    sandbox: { output: joint },
    redaction: new Redaction([{ name: "KEY", value: "hunter2-hunter2" }]),
    keep: () => new BoundedOutput(100),
    onOutput,
  });
  return { heard, watched };
}

describe("watchProcess", () => {
  it("keeps output and tells the sandbox's listeners of it, both without secrets", async () => {
    async function* output(): AsyncGenerator<OutputChunk> {
      yield chunk("a hunter2-hunter2 b");
    }
    const { heard, watched } = watch(output(), Promise.resolve({ exitCode: 3 }));
    expect(await watched.untilEnd(limits)).toMatchObject({ exitCode: 3, interruption: null });
    expect([watched.stdout.text(), heard.join("")]).toEqual(["a [redacted:KEY] b", "a [redacted:KEY] b"]);
  });

  it("waits for a listener that holds output up, and for no output that does not come", async () => {
    async function* output(): AsyncGenerator<OutputChunk> {
      yield chunk("one!");
      yield chunk("two!");
      await new Promise(() => undefined);
    }
    const slow = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 60));
    const { watched } = watch(output(), Promise.resolve({ exitCode: 0 }), slow);
    await watched.untilEnd(limits);
    expect(watched.stdout.text()).toBe("one!two!");
  });

  it("ends what runs too long, and tells a lost sandbox from an error", async () => {
    const none = (): AsyncIterable<OutputChunk> => new OutputQueue(() => undefined);
    const { promise: exit, resolve } = Promise.withResolvers<{ exitCode: number }>();
    const end = (): Promise<void> => Promise.resolve(resolve({ exitCode: 137 }));
    const late = watch(none(), exit).watched.untilEnd({ ...limits, timeoutMs: 1, end });
    expect(await late).toMatchObject({ interruption: "timeout", exitCode: 137 });
    const lost = watch(none(), Promise.reject(new GloveboxError("SANDBOX_LOST", "Gone.")));
    expect(await lost.watched.untilEnd(limits)).toMatchObject({ interruption: "lost", exitCode: null });
    const broken = watch(none(), Promise.reject(new Error("broken")));
    await expect(broken.watched.untilEnd(limits)).rejects.toThrow("broken");
  });

  it("does not wait for ever for the end of what could not be ended", async () => {
    vi.useFakeTimers();
    try {
      const output = new OutputQueue(() => undefined);
      const { watched } = watch(output, new Promise(() => undefined));
      const told = vi.fn<(end: unknown) => void>();
      void watched.untilEnd({ ...limits, timeoutMs: 1 }).then(told);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(told).toHaveBeenCalledWith(expect.objectContaining({ interruption: "timeout", exitCode: null }));
    } finally {
      vi.useRealTimers();
    }
  });
});
