import { GloveboxError } from "../../../../errors/glovebox-error.ts";
import type { ArrangeProgram, HostProgram, ProgramRequest } from "./host-program.ts";

/** Tools of the host that install packages; null for one that it has not. */
export interface InstallTools {
  /** Bun's executable. */
  readonly bun: string | null;
  /** Python's, whose module pip is. */
  readonly python: string | null;
}

/**
 * pip builds what a package names by an address whatever it is told of wheels, and a build is code of that package: it
 * would be a process of its own, and pip may start none.
 */
const pip = `
import os, runpy, sys
os.environ["PIP_CONFIG_FILE"] = os.devnull
starts = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.system", "_winapi.CreateProcess")
def refuse(event, _):
    if event in starts: raise PermissionError("glovebox: a package may not be built here, only wheels are installed")
sys.addaudithook(refuse)
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
`;

/** Runs the tools that install packages, as they are; all other programs are as `guarded` arranges them. */
export function toolCommand({ bun, python }: InstallTools, guarded: ArrangeProgram): ArrangeProgram {
  return (request) => {
    const [name = "", ...values] = request.command;
    if (name === "bun") return tool(bun, values, request);
    if (name === "pip") return tool(python, ["-I", "-c", pip, ...values], request);
    return guarded(request);
  };
}

function tool(file: string | null, values: readonly string[], { command, environment }: ProgramRequest): HostProgram {
  if (file !== null) return { file, arguments: values, environment, boundsData: true };
  throw new GloveboxError("UNSUPPORTED", `This host has no ${command[0]}.`, {
    context: { engine: "local", missing: "interpreter" },
  });
}
