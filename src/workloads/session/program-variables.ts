import type { NetworkGrant } from "../../egress/network-access.ts";
import { withPlainOutput } from "../../policy/request/environment-variables.ts";
import { withRealFolders } from "../program/real-folders.ts";
import type { SessionSandbox } from "./session-sandbox.ts";

/** Variables of every program of a session: the sandbox's, its packages', its network's, and its own. */
export function programVariables(
  { profile, packages, sandbox }: SessionSandbox,
  grant: NetworkGrant | null,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const pythonPath = [packages.pythonPath, profile.environment["PYTHONPATH"]].filter(Boolean).join(":");
  return withPlainOutput({
    ...withRealFolders({ ...profile.environment, PYTHONPATH: pythonPath }, sandbox),
    ...grant?.environment,
    ...own,
  });
}
