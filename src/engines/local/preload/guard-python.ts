import { join } from "node:path";
import { createId } from "../../../base/id.ts";
import { guardFiles } from "./guard-files.ts";
import { checkOptions, type GuardedOptions } from "./guard-options.ts";
import type { HostProgram, ProgramRequest } from "./host-program.ts";
import { splitRunner } from "./split-runner.ts";

const options: GuardedOptions = {
  interpreter: "python3",
  plain: new Set(["-u", "-B", "-O", "-OO", "-q", "-b", "-bb", "-d", "-v"]),
  last: new Set(["-c", "-m"]),
};

/**
 * Starts Python with its guard: a `sitecustomize` that is all of PYTHONPATH, and no folder of the user's own, because
 * code in there would run before.
 * @throws UNSUPPORTED for options that would leave the guard out
 */
export function guardPython(executable: string, request: ProgramRequest): HostProgram {
  const { runner, rest } = splitRunner(request.command.slice(1));
  checkOptions(rest, options);
  const { PYTHONPATH: ownPath = "", ...environment } = request.environment;
  const settings = {
    write: request.writable,
    read: request.readable,
    threads: request.threads,
    runner,
    // There is no such folder, nor can an earlier program have made one: the runner removes the place that it was read from.
    runner_folder: join(request.temporaryFolder, `.glovebox-${createId("run")}`),
    python_path: ownPath,
    arguments: rest,
  };
  return {
    file: executable,
    arguments: ["-s", ...rest],
    environment: {
      ...environment,
      PYTHONPATH: join(request.guardFolder, guardFiles.python.folder),
      GLOVEBOX_PRELOAD: JSON.stringify(settings),
    },
    boundsData: true,
  };
}
