import type { ExecSpec, Process, ProcessExit, ProcessSignal } from "../../engine.ts";
import { lostError } from "../local-errors.ts";
import type { PreparedProgram } from "./preload-launcher.ts";
import type { PreloadRun } from "./preload-run.ts";

/** A program of a container: its streams, and its run once it has been launched. */
export class PreloadProcess implements Process {
  readonly stdin: Process["stdin"];
  readonly output: Process["output"];
  readonly exit: Promise<ProcessExit>;
  readonly #exit = Promise.withResolvers<ProcessExit>();
  readonly #program: PreparedProgram;
  #run: PreloadRun | undefined;

  constructor(program: PreparedProgram) {
    this.#program = program;
    this.stdin = program.stdin;
    this.output = program.output;
    this.exit = this.#exit.promise;
    this.exit.catch(() => {
      // A rejection that no caller awaits must not end the server.
    });
  }

  launch(spec: ExecSpec): PreloadRun {
    this.#run = this.#program.launch(spec);
    return this.#run;
  }

  /** The program's life from its launch on; resolves when its streams hold nothing of the container any more. */
  async follow(run: PreloadRun): Promise<void> {
    const end = await run.ended;
    const finished = this.#program.finish();
    this.#exit.resolve(end);
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
    this.#run?.signal(signal);
  }
}
