import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { OutputQueue } from "../../engines/output-queue.ts";
import type { Process } from "../../engines/engine.ts";
import { AnswerStream } from "./answer-stream.ts";

const killed: string[] = [];
const running: Process[] = [];
afterEach(async () => {
  for (const process of running.splice(0)) await process.kill("SIGKILL");
  killed.length = 0;
});

/** A program of this machine in the place of one inside a sandbox. */
function run(script: string, { isKillable = true } = {}): Process {
  const child = spawn("sh", ["-c", script], { detached: true });
  child.stdin.on("error", () => {
    // It has ended.
  });
  const queue = new OutputQueue(() => {
    for (const stream of [child.stdout, child.stderr]) stream.resume();
  });
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].on("data", (bytes: Buffer) => {
      queue.push({ stream, bytes });
      if (queue.isFull) child[stream].pause();
    });
  }
  child.on("close", () => queue.end());
  const process: Process = {
    stdin: child.stdin,
    output: queue,
    exit: once(child, "exit").then(([code]) => ({ exitCode: (code as number | null) ?? 137 })),
    kill: async (signal) => {
      killed.push(signal);
      globalThis.process.kill(-(child.pid ?? 0), signal);
      if (!isKillable) throw new Error("out of reach");
      await Promise.resolve();
    },
  };
  running.push({ ...process, kill: async () => void child.kill("SIGKILL") });
  return process;
}

const answer = (script: string, how?: { isKillable: boolean }): AnswerStream =>
  new AnswerStream(run(script, how), { subject: "a test" });

const rejectionOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const text of texts) yield Buffer.from(text);
}

describe("what answers inside", () => {
  it("is read to its end, with its words and its exit code", async () => {
    const said = answer("echo out; echo words >&2; exit 3");
    let text = "";
    for (let piece = await said.next(); piece !== null; piece = await said.next()) text += piece.toString();
    expect([text, await said.end(), said.words]).toEqual(["out\n", 3, "words\n"]);
    expect(killed).toEqual([]);
  });

  it("is fed, and may have harmless things to say meanwhile", async () => {
    const text = "x".repeat(300_000);
    const fed = answer(`echo harmless >&2; [ "$(wc -c)" -eq 600000 ]`);
    expect(await fed.feed(pieces(text, text), () => false)).toBe(0);
  });

  it("is fed no more when it says why it wants no more", async () => {
    const fed = answer("echo full >&2; cat >/dev/null; exit 1");
    let count = 0;
    const endless = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      for (; ; count++) yield Buffer.alloc(65_536);
    };
    expect(await fed.feed(endless(), (words) => words.includes("full"))).toBe(1);
  });

  it.each([
    ["more than it was asked for", "yes", (each: AnswerStream) => each.end()],
    ["output while it takes input", "yes", (each: AnswerStream) => each.feed(pieces("x"), () => false)],
    ["complaints without end", "yes >&2", (each: AnswerStream) => each.next()],
  ])("is killed for %s", async (_, script, ask) => {
    expect(await rejectionOf(ask(answer(script)))).toMatchObject({ errorType: "POLICY_DENIED" });
    expect(killed).toEqual(["SIGKILL"]);
  });

  it("is killed when it is given up and does not end", async () => {
    await answer("yes").giveUp();
    expect(killed).toEqual(["SIGKILL"]);
  });

  it("may end by itself when it is given up", async () => {
    await answer("cat >/dev/null").giveUp();
    expect(killed).toEqual([]);
  });

  it("is lost, with its sandbox, when it cannot be killed", async () => {
    const lost = answer("yes", { isKillable: false });
    expect(await rejectionOf(lost.end())).toMatchObject({ errorType: "SANDBOX_LOST" });
    expect(await rejectionOf(lost.giveUp())).toMatchObject({ errorType: "SANDBOX_LOST" });
    expect(killed).toEqual(["SIGKILL"]);
  });
});
