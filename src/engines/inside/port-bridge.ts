import { readPackagedScript } from "../../base/packaged-script.ts";
import type { Duplex } from "node:stream";
import { untilCancelled } from "../../base/abort.ts";
import { DialMux } from "../../base/mux/dial-mux.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Process } from "../engine.ts";
import { assertPort, bridgeLost, nothingListens } from "../port-errors.ts";
import { lostError } from "./lost-error.ts";
import { runExec } from "./run-exec.ts";
import type { RunningContainer } from "./running-container.ts";

/** User of the bridge: neither the programs' nor the keeper's, so that programs cannot reach it and ending them spares it. */
const bridgeUser = "65533:65533";

/** What the bridge exits with when the container has no interpreter for it. */
const noInterpreterExitCode = 127;

/** What the bridge reads before anything else: that there are no certificates to save. */
const bridgePreamble: Buffer = Buffer.alloc(4);

/**
 * Starts the forwarder, which listens nowhere, with whichever interpreter there is; the one that takes least first.
 * None of the image's variables is meant for it.
 */
const script = `
if command -v python3 >/dev/null; then set -- python3 -I -S -c "$1" 0 ''
elif command -v bun >/dev/null; then set -- bun --smol -e "$2" 0 ''
elif command -v node >/dev/null; then set -- node --max-old-space-size=64 -e "$2" 0 ''
else exit ${noInterpreterExitCode}
fi
if [ -n "$LD_LIBRARY_PATH" ]; then exec env -i "PATH=$PATH" "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" "$@"; fi
exec env -i "PATH=$PATH" "$@"
`;

/** Connections of one container at once: each may hold a quarter of a megabyte here. */
const maxConnections = 512;

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
  readonly #container: RunningContainer;
  #bridge: Promise<Bridge> | undefined;

  constructor(container: RunningContainer) {
    this.#container = container;
  }

  /** @throws NETWORK_ERROR, UNSUPPORTED, CAPACITY, SANDBOX_LOST, CANCELLED */
  async connect(port: number, signal: AbortSignal | undefined): Promise<Duplex> {
    assertPort(port);
    const { mux, process } = await untilCancelled(this.#open(), signal);
    if (mux.size >= maxConnections) throw tooMany();
    const dialled = await untilCancelled(mux.dial(port, signal), signal);
    if (dialled === "refused") throw nothingListens(port);
    if (dialled !== "closed") return dialled;
    const { exitCode } = await process.exit;
    throw (await this.#container.isAlive()) ? bridgeLost(port, exitCode) : lostError(this.#container.engine.title);
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
    const process = await runExec(
      this.#container,
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
  return new GloveboxError("CAPACITY", `The sandbox already has the maximum of ${maxConnections} connections.`, {
    suggestion: "Close connections that are no longer needed, or keep fewer of them open.",
  });
}

function noInterpreter(): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    "The sandbox's image has neither python3 nor node nor bun, one of which is needed to connect.",
    {
      suggestion: "Use an image that has one of them.",
      context: { missing: ["python3", "node", "bun"] },
    },
  );
}

function bridgeFailed(exitCode: number, said: string): GloveboxError {
  return new GloveboxError("NETWORK_ERROR", "The connection to the sandbox's ports could not be opened.", {
    suggestion: "Retry; if it happens again, give the sandbox more memory or a higher limit of processes.",
    context: { exit_code: exitCode },
    cause: new Error(said),
  });
}

/** Argument vector that starts the bridge in any container that has a shell and Python, Node or Bun. */
async function bridgeCommand(): Promise<readonly string[]> {
  const folder = new URL("../../../images/forwarders/", import.meta.url);
  const files = ["forwarder.py", "forwarder.cjs"];
  const sources = await Promise.all(files.map((file) => readPackagedScript(new URL(file, folder))));
  return ["sh", "-c", script, "sh", ...sources];
}
