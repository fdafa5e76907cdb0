import { readHostAddresses } from "../../config/host/host-addresses.ts";
import { readNodeVersion } from "../../config/host/node-version.ts";
import { readPackageVersion } from "../../config/host/package-version.ts";
import { peerFolder } from "../../config/host/peer-folder.ts";
import { plantVariable } from "../../config/host/plant-variable.ts";
import { isOnlyByName, productEngines } from "../../engines/engine-table.ts";
import { openHostScene, type HostScene } from "../../workloads/proof/host-scene.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import type { RequestOf } from "../contract/operation-contract.ts";
import { handle } from "../handling/handler.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { checkChoice } from "../../policy/choice.ts";
import { proveContract, type ProvenEngine, type ProveResponse } from "./prove-contract.ts";
import { proveEngine } from "./prove-engine.ts";

/** `prove`: the attacks of the threat model, run on this machine. */
export const proveHandler = handle(proveContract, run);

async function run(
  platform: PlatformParts,
  request: RequestOf<typeof proveContract>,
  call: OperationCall,
): Promise<ProveResponse> {
  const { host, engines, now, config, defaultEngine } = platform;
  const known = productEngines.filter((name) => engines.names.includes(name));
  const named = request.engine === undefined ? null : checkChoice(request.engine, known, "engine");
  const openScene = (): Promise<HostScene> =>
    openHostScene({
      ...host,
      addresses: readHostAddresses(),
      peerFolder: peerFolder(host),
      plantVariable: (value) => plantVariable("GLOVEBOX_PROOF", value),
    });
  const proven: ProvenEngine[] = [];
  // One after another: the load of one would distort the other's result.
  const configured = defaultEngine ?? config.containerRuntime;
  for (const name of named === null ? enginesToProve(known, configured) : [named]) {
    proven.push(await proveEngine(platform, { ...request, engine: name, openScene, call }));
  }
  const tried = proven.filter(({ verdict }) => verdict !== "not_tried");
  return {
    version: readPackageVersion(),
    node_version: readNodeVersion(),
    platform: `${host.platform} ${host.architecture}`,
    kernel: host.kernelRelease,
    date: new Date(now()).toISOString(),
    held: tried.length > 0 && tried.every(({ verdict }) => verdict === "held"),
    engines: proven,
  };
}

/** Those that attacks run on when none is named: a cluster that a configuration happens to name may be others'. */
export function enginesToProve(known: readonly string[], configured: string): readonly string[] {
  return known.filter((name) => name === configured || !isOnlyByName(name));
}
