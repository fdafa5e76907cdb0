import { readPackagedScript } from "../../base/packaged-script.ts";
import { runtimeOf, type RuntimeName } from "../../languages/language-table.ts";

/** Text of the toolchain's runner, from `images/runners` of this package. */
export async function readRunner(toolchain: RuntimeName): Promise<string> {
  return readRunnerFile(runtimeOf(toolchain).runnerFile);
}

/** Text of a file there. */
export async function readRunnerFile(file: string): Promise<string> {
  return readPackagedScript(new URL(`../../../images/runners/${file}`, import.meta.url));
}
