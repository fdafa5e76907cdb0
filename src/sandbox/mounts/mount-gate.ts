import path from "node:path";
import { decideMount } from "../../policy/mounts/decide-mount.ts";
import type { MountPolicy } from "../../policy/mounts/mount-policy.ts";
import type { FoundPlace, MountRequest, MountVerdict } from "../../policy/mounts/mount-verdict.ts";
import { explainUnopened } from "./explain-unopened.ts";
import { openPlace, type OpenPlace } from "./open-place.ts";

/** How often a path may change during the check before it is refused: a program that saves a file replaces it once. */
const maxTries = 3;

/** What the gate needs to know in addition to the request. */
export interface MountGate {
  readonly policy: MountPolicy;
  readonly platform: NodeJS.Platform;
  /** Base of relative paths. */
  readonly workingDirectory: string;
}

/** A host path as a client names it: absolute, or relative to the working directory. */
export interface HostPathRequest extends Omit<MountRequest, "givenPath"> {
  readonly path: string;
}

/** The verdict on a host path; if allowed, the path is held open until this is disposed. */
export interface JudgedPath extends AsyncDisposable {
  readonly verdict: MountVerdict;
  /** What was found, even if it is refused; null if nothing could be opened. For the operator only. */
  readonly found: FoundPlace | null;
  /** Null if it is refused. */
  readonly place: OpenPlace | null;
}

/** Opens a host path and decides about the open file, never about a name that may mean something else by then. */
export async function judgeHostPath(gate: MountGate, { path: given, ...rest }: HostPathRequest): Promise<JudgedPath> {
  const request: MountRequest = { ...rest, givenPath: path.resolve(gate.workingDirectory, given) };
  let place: OpenPlace | null = null;
  try {
    for (let tries = 0; place === null && tries < maxTries; tries += 1) {
      place = await openPlace(request.givenPath, gate.platform);
    }
  } catch (error) {
    return refused(await explainUnopened(gate.policy, request, error), null);
  }
  if (place === null) return refused(await explainUnopened(gate.policy, request, null), null);
  const found: FoundPlace = { realPath: place.realPath, kind: place.kind };
  const verdict = decideMount(gate.policy, found, request);
  if (verdict.allowed) return { verdict, found, place, [Symbol.asyncDispose]: place[Symbol.asyncDispose] };
  await place[Symbol.asyncDispose]();
  return refused(verdict, found);
}

function refused(verdict: MountVerdict, found: FoundPlace | null): JudgedPath {
  return { verdict, found, place: null, [Symbol.asyncDispose]: () => Promise.resolve() };
}
