import path from "node:path";
import { decideMount, outsideRoots } from "../../policy/mounts/decide-mount.ts";
import { rootOf, type MountPolicy } from "../../policy/mounts/mount-policy.ts";
import { refusal, type FoundPlace, type MountRequest, type MountVerdict } from "../../policy/mounts/mount-verdict.ts";
import { openPlace, type OpenPlace } from "./open-place.ts";
import { lstat, realpath } from "node:fs/promises";

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

/**
 * Why a path could not be opened (`error`, null if it changed during the check), explained only below the roots:
 * elsewhere the answer is the same whether or not it exists, even if a link leads there.
 */
async function explainUnopened(
  policy: MountPolicy,
  { givenPath, use }: MountRequest,
  error: unknown,
): Promise<MountVerdict> {
  const reached = await deepestRealFolder(givenPath);
  if (reached === null || rootOf(policy, reached, use) === undefined) return outsideRoots(policy, givenPath, use);
  if (error === null) {
    return refusal("changed", "It was replaced while it was checked.", "Leaving it in place and asking again.");
  }
  const code = (error as NodeJS.ErrnoException).code ?? "";
  if (code === "ENOENT" || code === "ENOTDIR") {
    return refusal("missing", "It does not exist.", "Making it, or correcting the path.");
  }
  return refusal("unreadable", "It cannot be opened.", "The rights to read it, or another path.");
}

/** Real path of the innermost folder of a path that exists; null when a link on the way leads nowhere. */
async function deepestRealFolder(given: string): Promise<string | null> {
  for (let folder = given; ; folder = path.dirname(folder)) {
    try {
      return await realpath(folder);
    } catch {
      if ((await isLink(folder)) || folder === path.dirname(folder)) return null;
    }
  }
}

async function isLink(name: string): Promise<boolean> {
  try {
    return (await lstat(name)).isSymbolicLink();
  } catch {
    // Missing, or in a folder that cannot be entered: its parent decides.
    return false;
  }
}
