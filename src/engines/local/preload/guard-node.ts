import { join } from "node:path";
import { mebibyte } from "../../../base/bytes.ts";
import type { NodeInstallation } from "./find-node.ts";
import { guardFiles } from "./guard-files.ts";
import { checkOptions, type GuardedOptions } from "./guard-options.ts";
import type { HostProgram, ProgramRequest } from "./host-program.ts";
import { splitRunner } from "./split-runner.ts";

const options: GuardedOptions = {
  interpreter: "node",
  plain: new Set(["--enable-source-maps", "--no-warnings", "--no-deprecation"]),
  last: new Set(["-e", "--eval", "-p", "--print"]),
};

/** V8's heap is less than all that Node uses; below this it does not start. */
const leastHeapMib = 16;

/**
 * Starts Node with its permission model, which refuses files, processes, workers and native code by itself, and with our
 * guard for the rest.
 * @throws UNSUPPORTED for options that would leave the guard out
 */
export function guardNode(node: NodeInstallation, request: ProgramRequest): HostProgram {
  const { runner, rest } = splitRunner(request.command.slice(1));
  checkOptions(rest, options);
  const { writable, readable, guardFolder, memoryBytes, environment } = request;
  const guard = join(guardFolder, guardFiles.node.folder, guardFiles.node.name);
  const heapMib = Math.max(leastHeapMib, Math.floor(memoryBytes / mebibyte));
  const settings = { runner, runner_folder: join(request.temporaryFolder, ".glovebox") };
  return {
    file: node.executable,
    arguments: [
      "--permission",
      `--allow-fs-read=${guard}`,
      ...readable.map((folder) => `--allow-fs-read=${folder}`),
      ...writable.flatMap((folder) => [`--allow-fs-read=${folder}`, `--allow-fs-write=${folder}`]),
      ...node.options,
      `--max-old-space-size=${heapMib}`,
      "--require",
      guard,
      ...rest,
    ],
    environment: { ...environment, GLOVEBOX_PRELOAD: JSON.stringify(settings) },
    boundsData: false,
  };
}
