import { GloveboxError } from "../../../../errors/glovebox-error.ts";
import type { NodeInstallation } from "../../interpreters/find-node.ts";
import { checkGuardEnvironment } from "./guard-environment.ts";
import { guardNode } from "./guard-node.ts";
import { guardPython } from "./guard-python.ts";
import type { ArrangeProgram } from "./host-program.ts";

/** Interpreters of the host that can be guarded; null for one that it has not. */
export interface GuardedInterpreters {
  /** Python's executable. */
  readonly python: string | null;
  readonly node: NodeInstallation | null;
}

/** Only programs that start with a guard run at all: every other program would have the whole host. */
export function guardCommand({ python, node }: GuardedInterpreters): ArrangeProgram {
  return (request) => {
    const [name = ""] = request.command;
    checkGuardEnvironment(request.environment);
    switch (name) {
      case "python":
      case "python3":
        if (python === null) throw missing("Python 3", "Install Python 3");
        return guardPython(python, request);
      case "node":
        if (node === null) throw missing("Node with a permission model", "Install Node 22.18 or newer");
        return guardNode(node, request);
      default:
        throw new GloveboxError(
          "UNSUPPORTED",
          `Isolation level preload runs Python and Node programs only, not ${JSON.stringify(name)}.`,
          {
            suggestion: "Write the program in Python, JavaScript or TypeScript, or use Docker or Podman.",
            context: { engine: "local", missing: "programs" },
          },
        );
    }
  };
}

function missing(what: string, fix: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `The program needs ${what}, which this host does not have.`, {
    suggestion: `${fix}, or use Docker or Podman.`,
    context: { engine: "local", missing: "interpreter" },
  });
}
