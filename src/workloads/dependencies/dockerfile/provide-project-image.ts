import { createHash, type Hash } from "node:crypto";
import { untilCancelled } from "../../../base/abort.ts";
import { kibibyte } from "../../../base/bytes.ts";
import { assertNetworkPossible } from "../../../engines/assert-enforceable.ts";
import { errorCode, GloveboxError, invalidField } from "../../../errors/glovebox-error.ts";
import { HostFolder } from "../../../base/host-folder.ts";
import { onHost } from "../../../sandbox/copy/on-host.ts";
import type { Caller } from "../../../sandbox/sandboxes.ts";
import { readPlainFile } from "../read-plain-file.ts";
import {
  BuildSandbox,
  contextFolder,
  copyScript,
  userScript,
  type BuiltImage,
  type ImageBuildRequest,
  type BuildProgram,
} from "./build-sandbox.ts";
import { copyOf, firstState, nextStep, type BuildAction, type BuildState } from "./next-step.ts";
import { parseDockerfile, type Dockerfile, type Instruction } from "./parse-dockerfile.ts";
import { parsePattern, relate, type PathPattern } from "./path-pattern.ts";
import { CopyBudget } from "../../../sandbox/copy/copy-budget.ts";
import { readHostTree, type TreeFilter } from "../../../sandbox/copy/read-host-tree.ts";
import type { NewTreeEntry } from "../../../sandbox/files/file-way.ts";
import { maxEntries, ignoringFilter, type ProjectSource } from "../../project/copy-project.ts";
import type { Engine } from "../../../engines/engine.ts";
import { keptImages, labels } from "../../../engines/labels.ts";
import { installerVariables } from "../tool-variables.ts";

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

/** The part of a project that its Dockerfile copies. */
interface ContextSource extends ProjectSource {
  readonly ignore: ContextIgnore;
  /** Patterns of COPY; empty: nothing is read. */
  readonly patterns: readonly PathPattern[];
  readonly platform: NodeJS.Platform;
}

/** Its files, to be read once, and their digest. */
interface ReadContext {
  readonly entries: AsyncIterable<NewTreeEntry>;
  /** Digest of names, modes and bytes; complete once all entries have been read. */
  readonly digest: () => string;
}

/**
 * Files of the project for one build: those that its copy would have, except what `.dockerignore` excludes. Links are
 * links.
 * @throws POLICY_DENIED while reading, for more than fits
 */
function readContext(source: ContextSource): ReadContext {
  const hash = createHash("sha256");
  return { entries: hashed(entriesOf(source), hash), digest: () => hash.digest("hex") };
}

async function* entriesOf(source: ContextSource): AsyncGenerator<NewTreeEntry, void, undefined> {
  const { patterns, project, includeIgnored, maxBytes, platform } = source;
  if (patterns.length === 0) return;
  await using folder = await HostFolder.of(project, platform);
  // What is left out, the copy of the same project names.
  const notes = { onLeftOut: () => undefined, onUnknown: () => undefined };
  const filter = contextFilter(source, includeIgnored ? undefined : ignoringFilter(notes));
  yield* readHostTree(folder, new CopyBudget({ maxBytes, maxEntries }), { filter });
}

function contextFilter(source: ContextSource, inner: TreeFilter | undefined): TreeFilter {
  return {
    enter: async (folder, prefix) => {
      const rules = await inner?.enter(folder, prefix);
      return {
        takes: (path, name, isFolder) =>
          isWanted(source, path, isFolder) && (rules === undefined || rules.takes(path, name, isFolder)),
        below: (path, name) => contextFilter(source, rules?.below(path, name)),
      };
    },
  };
}

function isWanted({ ignore, patterns }: ContextSource, path: string, isFolder: boolean): boolean {
  if (ignore.ignores(path) && !(isFolder && ignore.hasExceptions)) return false;
  const parts = path.split("/");
  return patterns.some((pattern) => {
    const relation = relate(pattern, parts);
    return relation === "is" || relation === "below" || (isFolder && relation === "above");
  });
}

async function* hashed(
  entries: AsyncIterable<NewTreeEntry>,
  hash: Hash,
): AsyncGenerator<NewTreeEntry, void, undefined> {
  for await (const entry of entries) {
    const { kind, path, mode } = entry;
    const more = entry.kind === "file" ? entry.sizeBytes : "target" in entry ? entry.target : null;
    hash.update(`${JSON.stringify([kind, path, mode, more])}\n`);
    yield entry.kind === "file" ? { ...entry, chunks: hashedBytes(entry.chunks, hash) } : entry;
  }
}

async function* hashedBytes(
  chunks: AsyncIterable<Uint8Array>,
  hash: Hash,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Maximum rules of one file: each is tried on each path. */
const maxRules = 500;

/** What a `.dockerignore` excludes. */
interface ContextIgnore {
  /** Whether something in an ignored folder may still be included. */
  readonly hasExceptions: boolean;
  ignores(path: string): boolean;
}

/**
 * Parses a `.dockerignore`: the last matching rule counts, `!` re-includes. @throws RangeError for more than 500 rules
 */
export function contextIgnore(text: string): ContextIgnore {
  const rules = text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .flatMap(ruleOf);
  if (rules.length > maxRules) throw new RangeError(`more than ${maxRules} rules`);
  return {
    hasExceptions: rules.some(({ isException }) => isException),
    ignores: (path) => {
      const parts = path.split("/");
      const last = rules.findLast(({ pattern }) => ["is", "below"].includes(relate(pattern, parts) ?? ""));
      return last !== undefined && !last.isException;
    },
  };
}

interface Rule {
  readonly pattern: PathPattern;
  readonly isException: boolean;
}

function ruleOf(line: string): readonly Rule[] {
  const isException = line.startsWith("!");
  const pattern = parsePattern(isException ? line.slice(1).trim() : line);
  // A rule that leads out of the project, or matches all of it, is ignored.
  return pattern === null || pattern.length === 0 ? [] : [{ pattern, isException }];
}

/** How many built images an engine keeps in total; the newest stay. */
const maxKept = 8;
/** How long one is kept. */
const keptMs: number = 30 * 24 * 3_600_000;

/** The image built from exactly the same input; null if none is kept. */
async function findKept(engine: Engine, key: string, signal: AbortSignal): Promise<BuiltImage | null> {
  const [found] = await engine.images.list({ [labels.kept]: key, ...keptImages }, { signal });
  if (found === undefined) return null;
  return { image: found.id, environment: readVariables(found.labels[labels.keptVariables] ?? "") };
}

/** Labels by which it is found, and which record what its Dockerfile has set. */
function keptLabels(key: string, environment: BuiltImage["environment"]): Readonly<Record<string, string>> {
  const variables = Buffer.from(JSON.stringify(environment)).toString("base64url");
  return { [labels.kept]: key, [labels.keptVariables]: variables };
}

/** Removes those that are too many or too old, except ones in use. */
async function dropOldImages(engine: Engine, nowMs: number, signal: AbortSignal): Promise<void> {
  const endOf = (own: Readonly<Record<string, string>>): number => Date.parse(own[labels.expiresAt] ?? "") || 0;
  const kept = await engine.images.list(keptImages, { signal });
  const newest = kept.toSorted((one, other) => endOf(other.labels) - endOf(one.labels));
  const old = newest.filter((image, index) => index >= maxKept || endOf(image.labels) < nowMs);
  for (const image of old) await image.remove({ signal });
}

function readVariables(text: string): BuiltImage["environment"] {
  return JSON.parse(Buffer.from(text, "base64url").toString("utf8") || "{}") as BuiltImage["environment"];
}

type Variables = Readonly<Record<string, string>>;
/** What programs of a build have that no instruction says otherwise. */
const root = { environment: {}, workingDirectory: "/", user: "0:0" } as const;

/** A build under way. */
interface Build {
  readonly place: BuildSandbox;
  readonly dockerfile: Dockerfile;
  readonly request: ImageBuildRequest;
  /** Of its network. */
  readonly variables: Variables;
  readonly signal: AbortSignal;
}

/** Executes the Dockerfile; resolves to the variables that it has set. @throws IMAGE_UNAVAILABLE, INVALID_REQUEST */
async function runSteps(build: Build): Promise<Variables> {
  const { dockerfile, request, place, signal } = build;
  const { words } = await place.run({ ...root, command: ["env"] }, signal);
  const own = new Map(
    words.split("\n").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  const context = { globals: dockerfile.globals, lookUpBase: (name: string) => own.get(name) };
  let state = firstState;
  for (const [index, instruction] of dockerfile.steps.entries()) {
    const { keyword, text } = instruction;
    request.onProgress(`Building ${index + 1} of ${dockerfile.steps.length}: ${keyword} ${text}`.slice(0, 160));
    const next = nextStep(instruction, state, context);
    if (next.action !== null) await act(build, instruction, { state, action: next.action });
    state = next.state;
  }
  return state.environment;
}

async function act(
  build: Build,
  instruction: Instruction,
  { state, action }: { readonly state: BuildState; readonly action: BuildAction & object },
): Promise<void> {
  const { place, signal } = build;
  const { exitCode, words } = await place.run(await programOf(build, instruction, { state, action }), signal);
  if (place.excess !== null) {
    const { what, limit } = place.excess;
    throw buildFailed(instruction, `wrote more than the disk limit (${limit} ${what})`, words);
  }
  if (exitCode !== 0)
    throw buildFailed(instruction, exitCode === null ? "was ended" : `ended with exit code ${exitCode}`, words);
}

async function programOf(
  build: Build,
  instruction: Instruction,
  { state, action }: { readonly state: BuildState; readonly action: BuildAction & object },
): Promise<BuildProgram> {
  if (action.kind === "folder") return { ...root, command: ["mkdir", "-p", "--", action.path] };
  if (action.kind === "copy") {
    const { target, owner, mode, sources } = action;
    const patterns = sources.map((source) => source.replace(/^\/+/, ""));
    return { ...root, command: ["sh", "-c", copyScript, "sh", target, owner, mode, ...patterns] };
  }
  const { environment, workingDirectory } = state;
  const user = await numbersOf(build, instruction, state.user);
  const home = { HOME: user.startsWith("0:") ? "/root" : "/tmp" };
  const variables = {
    ...home,
    ...build.variables,
    ...installerVariables(build.variables),
    ...state.arguments,
    ...environment,
  };
  return { command: action.command, environment: variables, workingDirectory, user };
}

async function numbersOf({ place, signal }: Build, instruction: Instruction, user: string): Promise<string> {
  if (user === "0") return "0:0";
  const { words } = await place.run({ ...root, command: ["sh", "-c", userScript, "sh", user] }, signal);
  const numbers = /^\d{1,9}:\d{1,9}$/.exec(words.trim())?.[0];
  if (numbers === undefined) throw buildFailed(instruction, `has no user ${JSON.stringify(user)} to run as`, words);
  return numbers;
}

/** Opens the sandbox's network, if it has one. @throws NETWORK_ERROR */
async function openBuildNetwork(
  place: BuildSandbox,
  { network, networkPolicy }: ImageBuildRequest,
  { principal, signal }: Caller & { readonly signal: AbortSignal },
): Promise<Variables> {
  const grant = await network.grant(networkPolicy, principal);
  if (grant === null) return {};
  await place.openNetwork(grant, signal);
  return grant.environment;
}

/** Limits the duration of the whole build. @throws IMAGE_UNAVAILABLE if it is exceeded, what `work` throws */
async function withinTime<T>(timeoutMs: number, caller: Caller, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(timeoutMs);
  const signals = [late, caller.signal].filter((signal) => signal !== undefined);
  try {
    return await work(AbortSignal.any(signals));
  } catch (error) {
    if (caller.signal?.aborted === true || !late.aborted) throw error;
    const seconds = Math.round(timeoutMs / 1000);
    throw buildEnded(
      `it took more than ${seconds} s`,
      "Do less in it, or raise its time limit: `timeout_seconds` of a test run, `limits.test.timeout_seconds` of the configuration for a preview.",
    );
  }
}

/** How many of the last characters of a failed instruction's output its error shows. */
const shownCharacters = 2_000;

/** A failed instruction, with the end of its output. */
function buildFailed({ keyword, text, line }: Instruction, why: string, words: string): GloveboxError {
  const last = words.trim().slice(-shownCharacters);
  const what = `${keyword} ${text}`.slice(0, 120);
  return new GloveboxError(
    "IMAGE_UNAVAILABLE",
    `The project's Dockerfile could not be built: line ${line} (${what}) ${why}.${last === "" ? "" : `\n${last}`}`,
    {
      suggestion:
        "Correct the Dockerfile; RUN is root without most capabilities, and reaches the package registries, or what `network` names.",
      context: { field: "dockerfile", line },
    },
  );
}

/** The build as a whole failed. */
function buildEnded(why: string, suggestion: string): GloveboxError {
  return new GloveboxError("IMAGE_UNAVAILABLE", `The project's Dockerfile could not be built: ${why}.`, {
    suggestion,
    context: { field: "dockerfile" },
  });
}
