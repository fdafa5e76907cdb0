import { invalidField } from "../../../errors/glovebox-error.ts";
import { programUser } from "../../../policy/profile.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import type { ExecSpec } from "../../engine.ts";
import type { ProgramRequest } from "../channel/program.ts";

/** What a supervisor is told to start for an exec; `inherent` are the variables that the image gives to everything. */
export function programRequest(
  spec: ExecSpec,
  container: ContainerSpec,
  inherent: Readonly<Record<string, string>>,
): ProgramRequest {
  const { user, group } = parseUser(spec.user ?? container.processUser ?? programUser);
  return {
    command: spec.command,
    environment: {
      ...inherent,
      ...(spec.inheritsEnvironment === false ? {} : container.environment),
      ...spec.environment,
    },
    folder: spec.workingDirectory ?? container.workingDirectory ?? "/",
    user,
    group,
    // Where root was given capabilities, its programs are to have them.
    isSetup: user === 0 && (container.rootCapabilities ?? []).length > 0,
  };
}

/** Numbers of `uid:gid`. @throws INVALID_REQUEST */
export function parseUser(text: string): { readonly user: number; readonly group: number } {
  const { user, group } = /^(?<user>\d{1,10}):(?<group>\d{1,10})$/.exec(text)?.groups ?? {};
  const numbers = { user: Number(user), group: Number(group) };
  if (user === undefined || Math.max(numbers.user, numbers.group) > maxId) {
    throw invalidField("user", `two numbers uid:gid up to ${maxId}`, text);
  }
  return numbers;
}

/** The highest number that a user can have; the one above it means none. */
const maxId = 4_294_967_294;

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
