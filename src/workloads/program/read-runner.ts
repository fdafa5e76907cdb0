import { readPackagedScript } from "../../base/packaged-script.ts";
import { toolchains, type Toolchain } from "./languages.ts";

/** Text of the toolchain's runner, from `images/runners` of this package. */
export async function readRunner(toolchain: Toolchain): Promise<string> {
  return readPackagedScript(new URL(`../../../images/runners/${toolchains[toolchain].runnerFile}`, import.meta.url));
}
