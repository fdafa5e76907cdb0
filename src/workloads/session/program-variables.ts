import type { NetworkGrant } from "../../egress/network-access.ts";
import { withRealFolders } from "../program/real-folders.ts";
import type { SessionSandbox } from "./session-sandbox.ts";

/** Variables of every program of a session: the sandbox's, its packages', its network's and the deployment's. */
export function programVariables(
  { profile, packages, sandbox }: SessionSandbox,
  grant: NetworkGrant | null,
  hostEnvironment: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const pythonPath = [packages.pythonPath, profile.environment["PYTHONPATH"]].filter(Boolean).join(":");
  return {
    ...withRealFolders({ ...profile.environment, PYTHONPATH: pythonPath }, sandbox),
    ...grant?.environment,
    ...hostEnvironment,
  };
}
