import { join } from "node:path";
import { mebibyte } from "../../../../base/bytes.ts";
import type { NodeInstallation } from "../../interpreters/find-node.ts";
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
const minHeapMib = 16;

/**
 * Starts Node with its permission model, which refuses files, processes, workers and native code by itself, and with our
 * guard for the rest.
 * @throws UNSUPPORTED for options that would leave the guard out
 */
export function guardNode(node: NodeInstallation, request: ProgramRequest): HostProgram {
  const { runner, rest } = splitRunner(request.command.slice(1));
  checkOptions(rest, options);
  const { writable, readable, guardFolder, memoryBytes, environment } = request;
  // Node looks for package.json beside what it loads, and looking there must be allowed.
  const ownFolder = join(guardFolder, guardFiles.node.folder);
  const heapMib = Math.max(minHeapMib, Math.floor(memoryBytes / mebibyte));
  return {
    file: node.executable,
    arguments: [
      "--permission",
      `--allow-fs-read=${ownFolder}`,
      ...readable.map((folder) => `--allow-fs-read=${folder}`),
      ...writable.flatMap((folder) => [`--allow-fs-read=${folder}`, `--allow-fs-write=${folder}`]),
      ...node.options,
      `--max-old-space-size=${heapMib}`,
      "--require",
      join(ownFolder, guardFiles.node.name),
      ...rest,
    ],
    environment: { ...environment, GLOVEBOX_PRELOAD: JSON.stringify({ runner }) },
    boundsData: false,
  };
}
