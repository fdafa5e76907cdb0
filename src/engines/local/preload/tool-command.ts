import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { wheelsOnlyPip } from "../../../policy/install-policy.ts";
import type { ArrangeProgram, HostProgram, ProgramRequest } from "./host-program.ts";

/** Tools of the host that install packages; null for one that it has not. */
export interface InstallTools {
  /** Bun's executable. */
  readonly bun: string | null;
  /** Python's, whose module pip is. */
  readonly python: string | null;
}

/** Runs the tools that install packages, as they are; all other programs are as `guarded` arranges them. */
export function toolCommand({ bun, python }: InstallTools, guarded: ArrangeProgram): ArrangeProgram {
  return (request) => {
    const [name = "", ...values] = request.command;
    if (name === "bun") return tool(bun, values, request);
    if (name === "pip") return tool(python, ["-I", "-c", wheelsOnlyPip, ...values], request);
    return guarded(request);
  };
}

function tool(file: string | null, values: readonly string[], { command, environment }: ProgramRequest): HostProgram {
  if (file !== null) return { file, arguments: values, environment, boundsData: true };
  throw new GloveboxError("UNSUPPORTED", `This host has no ${command[0]}.`, {
    context: { engine: "local", missing: "interpreter" },
  });
}
