import type { Duplex } from "node:stream";
import { untilCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions, Process, ProcessExit, ProcessSignal } from "../engine.ts";
import { assertPort, bridgeLost, nothingListens } from "../port-errors.ts";
import type { PipePool } from "./bubblewrap/pipes/pipe-pool.ts";
import { ProgramPipes, type ProgramEnds } from "./bubblewrap/pipes/program-pipes.ts";
import type { SandboxRun } from "./bubblewrap/run/sandbox-run.ts";

/** Exit code of what dies by SIGKILL, as all do that die with their container. */
export const killedExitCode = 137;

/** A program of a container: its streams, and its sandbox once it has been launched. */
export class LocalProcess implements Process {
  readonly stdin: Process["stdin"];
  readonly output: Process["output"];
  readonly exit: Promise<ProcessExit>;
  readonly #exit = Promise.withResolvers<ProcessExit>();
  readonly #pipes: ProgramPipes;
  #run: SandboxRun | undefined;

  static async open(pool: PipePool): Promise<LocalProcess> {
    return new LocalProcess(await ProgramPipes.open(pool));
  }

  private constructor(pipes: ProgramPipes) {
    this.#pipes = pipes;
    this.stdin = pipes.stdin;
    this.output = pipes.output;
    this.exit = this.#exit.promise;
    this.exit.catch(() => {
      // Whoever awaits `exit` is told; nobody may, and that must not end the server.
    });
  }

  get channel(): Process["channel"] {
    return this.#run?.channel;
  }

  /** The program's ends of its pipes, for its launch. */
  get ends(): ProgramEnds {
    return this.#pipes.ends;
  }

  /** The program's life, from its launch on; resolves when nothing of it is left, its streams' descriptors included. */
  async follow(run: SandboxRun): Promise<void> {
    this.#run = run;
    this.#pipes.closeProgramEnds();
    const end = await programEnd(run);
    const finished = this.#pipes.finish();
    if (end instanceof GloveboxError) this.#exit.reject(end);
    else this.#exit.resolve(end);
    await finished;
  }

  /** The program was never launched and will not be. */
  async abandon(): Promise<void> {
    this.#exit.reject(lostError());
    await this.#pipes.finish();
  }

  async kill(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    if (signal === "SIGKILL") await this.#run?.kill();
    else await this.#run?.terminate();
  }

  async signal(signal: ProcessSignal): Promise<void> {
    if ((await this.#run?.signal(signal)) === "hindered") throw notSent(signal);
  }

  async connect(port: number, { signal }: CallOptions = {}): Promise<Duplex> {
    assertPort(port);
    const answer = await untilCancelled(this.#run?.connect(port, signal) ?? Promise.resolve("gone" as const), signal);
    if (answer === "lost") throw bridgeLost(port, null);
    if (typeof answer === "string") throw nothingListens(port);
    return answer;
  }
}

/** How a sandbox's program ended: with its code, killed by us, or lost. */
export async function programEnd(run: SandboxRun): Promise<ProcessExit | GloveboxError> {
  const { exitCode, diagnostics } = await run.ended;
  if (exitCode !== null) return { exitCode };
  return run.wasKilled ? { exitCode: killedExitCode } : lostError(new Error(diagnostics));
}

function notSent(signal: ProcessSignal): GloveboxError {
  return new GloveboxError(
    "SANDBOX_LOST",
    `${signal} could not be sent to the program: it keeps senders from running.`,
    {
      suggestion: "End the program.",
      context: { engine: "local", signal },
    },
  );
}

/** The error of work whose sandbox went away without our doing. */
export function lostError(cause?: unknown): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", "The sandbox on engine local is gone, or could not be set up.", { cause });
}
