import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { ExecSpec, Process, ProcessExit, ProcessSignal } from "../engine.ts";
import type { PreparedProgram, ProgramRun } from "./launcher.ts";
import { lostError } from "./local-errors.ts";

/** A program of a container: its streams, and its run once it has been launched. */
export class LocalProcess implements Process {
  readonly stdin: Process["stdin"];
  readonly output: Process["output"];
  readonly exit: Promise<ProcessExit>;
  readonly #exit = Promise.withResolvers<ProcessExit>();
  readonly #program: PreparedProgram;
  #run: ProgramRun | undefined;

  constructor(program: PreparedProgram) {
    this.#program = program;
    this.stdin = program.stdin;
    this.output = program.output;
    this.exit = this.#exit.promise;
    this.exit.catch(() => {
      // A rejection that no caller awaits must not end the server.
    });
  }

  launch(spec: ExecSpec): ProgramRun {
    this.#run = this.#program.launch(spec);
    return this.#run;
  }

  /** The program's life from its launch on; resolves when its streams hold nothing of the container any more. */
  async follow(run: ProgramRun): Promise<void> {
    const end = await run.ended;
    const finished = this.#program.finish();
    if (end instanceof GloveboxError) this.#exit.reject(end);
    else this.#exit.resolve(end);
    await finished;
  }

  /** The program was never launched and never will be. */
  async abandon(): Promise<void> {
    this.#exit.reject(lostError());
    await this.#program.finish();
  }

  async kill(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    if (signal === "SIGKILL") await this.#run?.kill();
    else await this.#run?.terminate();
  }

  async signal(signal: ProcessSignal): Promise<void> {
    if ((await this.#run?.signal(signal)) === "hindered") throw notSent(signal);
  }
}

function notSent(signal: ProcessSignal): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `${signal} could not be sent: the program keeps the sender from running.`, {
    suggestion: "End the program.",
    context: { engine: "local", signal },
  });
}
