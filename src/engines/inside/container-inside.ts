import type { Duplex } from "node:stream";
import type { CallOptions, ExecSpec, Process } from "../engine.ts";
import { Keeper, type KeeperAnswer, type KeeperQuestion, type KeeperStream } from "./keeper.ts";
import { LiveExecs } from "./live-execs.ts";
import { PortBridge } from "./port-bridge.ts";
import { runExec } from "./run-exec.ts";
import type { ContainerExec, RunningContainer } from "./running-container.ts";

/**
 * What happens inside one container, for every engine that can start a program there: programs that can be ended and
 * signalled one by one, the keeper's answers, connections to ports.
 */
export class ContainerInside implements RunningContainer {
  readonly engine: ContainerExec["engine"];
  readonly spec: ContainerExec["spec"];
  readonly start: ContainerExec["start"];
  readonly isRunning: ContainerExec["isRunning"];
  readonly execs: LiveExecs = new LiveExecs();
  readonly #ports: PortBridge = new PortBridge(this);
  #keeper: Keeper | undefined;

  constructor({ engine, spec, start, isRunning }: ContainerExec) {
    this.engine = engine;
    this.spec = spec;
    this.start = start;
    this.isRunning = isRunning;
  }

  /** Whether it has been given a keeper that was not forgotten. */
  get isKept(): boolean {
    return this.#keeper !== undefined;
  }

  /** Takes the streams of the keeper (`keeperCommand`), before or after its start. */
  keep(stream: KeeperStream): void {
    this.#keeper = new Keeper(stream);
  }

  /** Ends the keeper, and with it the container. */
  letKeeperGo(): void {
    this.#keeper?.close();
  }

  /** The same of a container that was not started: a later start brings another. */
  forgetKeeper(): void {
    this.#keeper?.close();
    this.#keeper = undefined;
  }

  async askKeeper(question?: KeeperQuestion): Promise<KeeperAnswer | "gone" | "silent"> {
    return (await this.#keeper?.ask(question)) ?? "silent";
  }

  /** As `Container.isAlive`. */
  async isAlive(options?: CallOptions): Promise<boolean> {
    const answer = await this.askKeeper(options);
    return answer === "silent" ? this.isRunning() : answer !== "gone";
  }

  /** As `Container.exec`. */
  exec(spec: ExecSpec, options: CallOptions): Promise<Process> {
    return runExec(this, spec, options);
  }

  /** As `Container.connect`. */
  connect(port: number, signal: AbortSignal | undefined): Promise<Duplex> {
    return this.#ports.connect(port, signal);
  }
}
