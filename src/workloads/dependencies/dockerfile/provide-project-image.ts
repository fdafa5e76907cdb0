import { createHash } from "node:crypto";
import { untilCancelled } from "../../../base/abort.ts";
import { kibibyte } from "../../../base/bytes.ts";
import { assertNetworkPossible } from "../../../engines/enforcement/assert-enforceable.ts";
import { errorCode } from "../../../errors/error-code.ts";
import { GloveboxError, invalidField } from "../../../errors/glovebox-error.ts";
import { HostFolder } from "../../../sandbox/copy/host-folder.ts";
import { onHost } from "../../../sandbox/copy/on-host.ts";
import type { Caller } from "../../../sandbox/sandboxes.ts";
import { readPlainFile } from "../image/read-plain-file.ts";
import { readContext, type ContextSource } from "./build-context.ts";
import { buildEnded } from "./build-error.ts";
import type { BuiltImage, ImageBuildRequest } from "./build-request.ts";
import { BuildSandbox } from "./build-sandbox.ts";
import { contextFolder } from "./build-scripts.ts";
import { contextIgnore } from "./context-ignore.ts";
import { dropOldImages, findKept, keptLabels, keptMs } from "./kept-image.ts";
import { copyOf, firstState } from "./next-step.ts";
import { parseDockerfile, type Dockerfile } from "./parse-dockerfile.ts";
import { parsePattern, type PathPattern } from "./path-pattern.ts";
import { openBuildNetwork, root, runSteps, withinTime } from "./run-steps.ts";

const maxFileBytes = 64 * kibibyte;

/**
 * The image of a project's own Dockerfile (SPEC TE4): one built from exactly the same input before, else a new one. It
 * is built in a sandbox with the limits of the one that it is for, so that instructions can do no more than programs
 * there, except that they are root with the capabilities that installers need.
 * @throws INVALID_REQUEST for unsupported instructions, IMAGE_UNAVAILABLE with the end of the output of what failed,
 * UNSUPPORTED, POLICY_DENIED for more files than fit
 */
export async function provideProjectImage(request: ImageBuildRequest, caller: Caller): Promise<BuiltImage> {
  const { engine } = request;
  assertBuilds(request);
  const { dockerfile, source } = await readBuild(request);
  await request.provideImage(dockerfile.base, "project");
  return withinTime(request.timeoutMs, caller, async (signal) => {
    const base = await engine.images.identity(dockerfile.base, { signal });
    const keyOf = (digest: string): string => keyOfBuild({ request, caller, dockerfile, base, digest });
    const key = keyOf(await digestNow(source, signal));
    return (
      (await findKept(engine, key, signal)) ??
      (await build({ request, caller, dockerfile, source, base, keyOf }, signal))
    );
  });
}

interface Whole {
  readonly request: ImageBuildRequest;
  readonly caller: Caller;
  readonly dockerfile: Dockerfile;
  readonly source: ContextSource;
  readonly base: string;
  readonly keyOf: (digest: string) => string;
}

async function build(
  { request, caller, dockerfile, source, base, keyOf }: Whole,
  signal: AbortSignal,
): Promise<BuiltImage> {
  await using place = await BuildSandbox.open(request, base, { ...caller, signal });
  // The image is stored under the digest of what is read now: the project may have changed since the lookup.
  const context = readContext(source);
  await makeContextFolder(place, signal);
  await place.sandbox.files.writeTree(contextFolder, context.entries, { signal });
  const key = keyOf(context.digest());
  const variables = await openBuildNetwork(place, request, { ...caller, signal });
  const environment = await runSteps({ place, dockerfile, request, variables, signal });
  await place.run({ ...root, command: ["rm", "-rf", contextFolder] }, signal);
  request.onProgress("Keeping the image for later runs");
  const marks = { labels: keptLabels(key, environment), lifetimeMs: keptMs, isKept: true };
  const image = await place.sandbox.commit(marks, { signal });
  await dropOldImages(request.engine, request.now(), signal);
  return { image, environment };
}

/**
 * By a program, as only those of a build have capabilities: an image's `/` may be closed to root without them (mode 0555,
 * as Podman 4.3.1 stores images).
 */
async function makeContextFolder(place: BuildSandbox, signal: AbortSignal): Promise<void> {
  const { exitCode, words } = await place.run({ ...root, command: ["mkdir", contextFolder] }, signal);
  if (exitCode === 0) return;
  throw buildEnded(
    `its base image has no room for the project's files: ${words.trim() || `mkdir ${contextFolder} was ended`}`,
    `Take a base image with sh, mkdir and cp, and without ${contextFolder}.`,
  );
}

/** @throws UNSUPPORTED if a build's resources cannot be limited */
function assertBuilds({ engine, capabilities }: ImageBuildRequest): void {
  const { images, execUser, diskLimit } = capabilities;
  if (!images || !execUser || diskLimit === "no") {
    throw new GloveboxError(
      "UNSUPPORTED",
      `Engine ${engine.name} cannot build a project's Dockerfile within limits here.`,
      {
        suggestion: "Leave `dockerfile` and oci_runtime out, or choose another engine (`glovebox doctor` lists them).",
        context: {
          engine: engine.name,
          missing: images ? (execUser ? "diskLimit" : "execUser") : "images",
          field: "dockerfile",
        },
      },
    );
  }
  assertNetworkPossible(capabilities, engine.name);
}

async function readBuild(
  request: ImageBuildRequest,
): Promise<{ readonly dockerfile: Dockerfile; readonly source: ContextSource }> {
  const { project, platform, limits } = request;
  await using folder = await HostFolder.of(project, platform);
  const text = await readText(folder, "Dockerfile");
  if (text === null) throw invalidField("dockerfile", "a project with a Dockerfile at its top", "one without");
  const dockerfile = parseDockerfile(text);
  const rules = await readText(folder, ".dockerignore");
  try {
    const ignore = contextIgnore(rules ?? "");
    return { dockerfile, source: { ...request, ignore, patterns: patternsOf(dockerfile), maxBytes: limits.diskBytes } };
  } catch (error) {
    if (error instanceof RangeError)
      throw invalidField("dockerfile", "a .dockerignore of at most 500 rules", error.message);
    throw error;
  }
}

async function readText(folder: HostFolder, name: string): Promise<string | null> {
  const read = await onHost(name, readPlainFile(folder, name, maxFileBytes)).catch((error: unknown) => {
    if (errorCode(error instanceof GloveboxError ? error.cause : error) === "ENOENT") return null;
    throw error;
  });
  if (read === null) return null;
  if (typeof read !== "string") return read.text;
  const came = read === "large" ? "more" : "something else";
  throw invalidField("dockerfile", `a ${name} that is a plain file of at most ${maxFileBytes / kibibyte} KiB`, came);
}

/** The patterns of COPY; with variables that are only known in the base they may match anything. */
function patternsOf({ steps }: Dockerfile): readonly PathPattern[] {
  return steps.flatMap((step) => {
    if (step.keyword !== "COPY" && step.keyword !== "ADD") return [];
    let isOpen = false;
    const action = copyOf(step, firstState, () => {
      isOpen = true;
      return "x";
    });
    if (action.kind !== "copy") return [];
    return isOpen ? [[]] : action.sources.map((source) => parsePattern(source) ?? []);
  });
}

async function digestNow(source: ContextSource, signal: AbortSignal): Promise<string> {
  const context = readContext(source);
  const read = async (): Promise<void> => {
    for await (const entry of context.entries) {
      signal.throwIfAborted();
      if (entry.kind === "file") for await (const _ of entry.chunks);
    }
  };
  await untilCancelled(read(), signal);
  return context.digest();
}

function keyOfBuild(whole: Omit<Whole, "source" | "keyOf"> & { readonly digest: string }): string {
  const { request, caller, dockerfile, base, digest } = whole;
  const parts = [1, caller.principal, base, dockerfile.globals, dockerfile.steps, request.networkPolicy, digest];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
