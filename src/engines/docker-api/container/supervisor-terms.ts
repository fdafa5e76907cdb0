import { spawnFilter } from "../../../policy/seccomp/spawn-filter.ts";
import { programUser } from "../../../policy/profile.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import type { SupervisorTerms } from "../../supervised/channel/hello.ts";
import { apartTerms, type ApartCircumstances } from "../../supervised/container/apart-terms.ts";
import { parseUser } from "../../supervised/container/program-request.ts";
import type { RuntimeKind } from "../oci-runtime.ts";

/**
 * Group numbers by which the trees of programs are told apart where a kernel knows no child subreapers; nothing on any machine has
 * them, and no program can drop or gain one.
 */
const tags = { first: 2_000_000_000, count: 256 };

export interface TermsCircumstances extends Omit<ApartCircumstances, "filter"> {
  readonly runtimeKind: RuntimeKind;
}

/** What the supervisor of a container is told, and what it must be; programs are another user than it. */
export function supervisorTerms(
  spec: ContainerSpec,
  { binary, runtimeKind, own }: TermsCircumstances,
): SupervisorTerms {
  const isInGvisor = runtimeKind === "gvisor";
  // gVisor's own kernel is the wall there, and interprets a filter at each call.
  const policy = isInGvisor ? undefined : { setuidBits: spec.rootCapabilities !== undefined };
  const terms = apartTerms(spec, { binary, own, filter: spawnFilter(binary.architecture, policy) });
  return isInGvisor ? { ...terms, tags, facts: ["TAGS"] } : terms;
}

/**
 * gVisor lets a program that is root open the descriptors of the supervisor, and forge its answers.
 * @throws UNSUPPORTED
 */
export function assertSupervisable(
  spec: ContainerSpec,
  runtimeKind: RuntimeKind,
  engine: { readonly name: string; readonly title: string },
): void {
  if (runtimeKind !== "gvisor") return;
  const isRoot = parseUser(spec.processUser ?? programUser).user === 0;
  if (!isRoot && spec.rootCapabilities === undefined) return;
  throw new GloveboxError(
    "UNSUPPORTED",
    `Programs cannot be root in a sandbox of gVisor on ${engine.title}: they could forge what Glovebox's own process in it says.`,
    {
      suggestion: "Give the project to an ordinary user (`chown`), or choose another OCI runtime.",
      context: { engine: engine.name, missing: "root in gVisor" },
    },
  );
}
