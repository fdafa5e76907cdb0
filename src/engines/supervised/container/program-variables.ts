import { programUser } from "../../../policy/profile.ts";
import type { ContainerSpec } from "../../container-spec.ts";

/** Where programs are looked for in an image that says nothing about it. */
const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Variables of every program in a container beside its own: what engines give, and the image's. */
export function programVariables(
  { processUser = programUser }: Pick<ContainerSpec, "processUser">,
  { environment }: { readonly environment: Readonly<Record<string, string>> },
): Readonly<Record<string, string>> {
  const home = processUser.startsWith("0:") ? "/root" : "/";
  return { PATH: usualPath, HOME: home, HOSTNAME: "sandbox", ...environment };
}
