import { expandHome } from "../../config/mounts/expand-home.ts";
import { readPackagedScript } from "../../base/packaged-script.ts";
import { executeCodeContract } from "../execute/execute-contract.ts";
import { executeRequest } from "../execute/execute-handler.ts";
import { Redaction } from "../../policy/redaction/redaction.ts";
import { describeCommand } from "../../workloads/run/describe-work.ts";
import { handle } from "../handling/handler.ts";
import { closeMounts, openMounts } from "../mounts/open-mounts.ts";
import { insidePath } from "./inside-path.ts";
import { readServerCommand, type ServerCommand } from "./server-command.ts";
import { wrapServerContract, type WrapServerResponse } from "./wrap-server-contract.ts";

/** A server lives as long as its client; this is the hard limit if the request sets none. */
const longestMs = 7 * 24 * 3_600_000;

/** `wrap_server`: an execution whose program is a launcher that becomes the server. */
export const wrapServerHandler = handle(
  wrapServerContract,
  async (platform, request, call): Promise<WrapServerResponse> => {
    const { command, mounts: asked = [], packages = [], environment = {}, ...settings } = request;
    const server = readServerCommand(command);
    const { homeDirectory, platform: hostPlatform } = platform.host;
    const wanted = asked.map(({ path: given, target, read_only: readOnly = true }) => ({
      path: given,
      target,
      readOnly,
      shownAs: `--mount ${given}`,
    }));
    // The caller is the operator of this machine, with the rights of the main group.
    const { mounts, notices } = await openMounts(platform, wanted, true);
    try {
      const at = mounts.map(({ place, target }, index) => ({
        hostPaths: [expandHome(asked[index]?.path ?? "", homeDirectory), place.realPath],
        target,
      }));
      const inside = (text: string): string => insidePath(text, at, hostPlatform);
      const {
        artifacts: _,
        packages_installed: __,
        ...response
      } = await executeRequest(
        platform,
        executeCodeContract.request.parse({
          ...settings,
          language: server.language,
          code: await launcherOf(server),
          args: server.launch.map(inside),
          environment: Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, inside(value)])),
          packages: packagesOf(server, packages),
        }),
        { call, mounts, notices, timeoutMs: longestMs, work: describeCommand(command, new Redaction([])) },
      );
      return response;
    } finally {
      await closeMounts(mounts);
    }
  },
);

/** The package of a bare module is found by its name, like those of imports. */
function packagesOf(server: ServerCommand, more: readonly string[]): readonly string[] | "auto" {
  const named = [...server.packages, ...more];
  return named.length === 0 && server.importedModule !== null ? "auto" : named;
}

async function launcherOf({ language, importedModule }: ServerCommand): Promise<string> {
  const file = language === "python" ? "launch.py" : "launch.cjs";
  const text = await readPackagedScript(new URL(`../../../images/launchers/${file}`, import.meta.url));
  // Never runs: it only says which package is needed.
  return importedModule === null ? text : `${text}\nsys.exit()\nimport ${importedModule}\n`;
}
