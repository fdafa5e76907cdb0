import type { Duplex } from "node:stream";
import { untilCancelled } from "../../base/abort.ts";
import { DialMux } from "../../base/mux/dial-mux.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Process } from "../engine.ts";
import { assertPort, bridgeLost, nothingListens } from "../port-errors.ts";
import { bridgeCommand, bridgePreamble, bridgeUser, noInterpreterExitCode } from "./bridge-command.ts";
import type { ContainerLink } from "./container/container-link.ts";

import { lostError } from "./lost-error.ts";
import { execInContainer } from "./tracked-exec.ts";

/** Connections of one container at once: each may hold a quarter of a megabyte here. */
const mostConnections = 512;

interface Bridge {
  readonly mux: DialMux;
  readonly process: Process;
  /** Resolves when it carries no more, with the end of its standard error. */
  readonly ended: Promise<string>;
}

/**
 * The way to the ports of one container, which has no network: a small program of ours inside it, started by the first
 * connection, that carries all of them over its standard input and output. It stays as long as the container.
 */
export class PortBridge {
  readonly #link: ContainerLink;
  #bridge: Promise<Bridge> | undefined;

  constructor(link: ContainerLink) {
    this.#link = link;
  }

  /** @throws NETWORK_ERROR, UNSUPPORTED, CAPACITY, SANDBOX_LOST, CANCELLED */
  async connect(port: number, signal: AbortSignal | undefined): Promise<Duplex> {
    assertPort(port);
    const { mux, process } = await untilCancelled(this.#open(), signal);
    if (mux.size >= mostConnections) throw tooMany();
    const dialled = await untilCancelled(mux.dial(port, signal), signal);
    if (dialled === "refused") throw nothingListens(port);
    if (dialled !== "closed") return dialled;
    const { exitCode } = await process.exit;
    throw (await this.#link.isAlive()) ? bridgeLost(port, exitCode) : lostError(this.#link.dialect.title);
  }

  #open(): Promise<Bridge> {
    if (this.#bridge === undefined) {
      // Shared by all callers, so one caller's cancellation must not end it; a failure is tried again.
      const opening = this.#begin();
      this.#bridge = opening;
      const forget = (): void => {
        if (this.#bridge === opening) this.#bridge = undefined;
      };
      opening.then(({ ended }) => ended.then(forget), forget);
    }
    return this.#bridge;
  }

  async #begin(): Promise<Bridge> {
    const command = await bridgeCommand();
    const process = await execInContainer(
      this.#link,
      { command, user: bridgeUser, inheritsEnvironment: false, workingDirectory: "/" },
      {},
    );
    const mux = new DialMux((frame, sent) => void process.stdin.write(frame, () => sent()));
    process.stdin.write(bridgePreamble);
    const ended = carry(process, mux);
    await mux.ready;
    if (!mux.isClosed) return { mux, process, ended };
    const { exitCode } = await process.exit;
    throw exitCode === noInterpreterExitCode ? noInterpreter() : bridgeFailed(exitCode, await ended);
  }
}

/** Passes on what the bridge says until its end; resolves with the end of its standard error. */
async function carry(process: Process, mux: DialMux): Promise<string> {
  let said = "";
  try {
    for await (const { stream, bytes } of process.output) {
      if (stream === "stdout") mux.receive(bytes);
      else said = (said + Buffer.from(bytes).toString("utf8")).slice(-1_000);
    }
  } catch (error) {
    said = error instanceof RangeError ? "it broke the protocol" : "its stream broke";
  } finally {
    mux.close();
    process.stdin.end();
  }
  return said;
}

function tooMany(): GloveboxError {
  return new GloveboxError("CAPACITY", `The sandbox has ${mostConnections} connections open, which is the most.`, {
    suggestion: "Close connections that are no longer needed, or keep fewer of them open.",
  });
}

function noInterpreter(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "The sandbox's image has neither python3 nor node nor bun to connect by.", {
    suggestion: "Use an image that has one of them.",
    context: { missing: ["python3", "node", "bun"] },
  });
}

function bridgeFailed(exitCode: number, said: string): GloveboxError {
  return new GloveboxError("NETWORK_ERROR", "The way to the sandbox's ports could not be opened.", {
    suggestion: "Retry; if it happens again, give the sandbox more memory or a higher limit of processes.",
    context: { exit_code: exitCode },
    cause: new Error(said),
  });
}
