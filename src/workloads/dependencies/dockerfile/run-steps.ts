import type { Caller } from "../../../sandbox/sandboxes.ts";
import { installerVariables } from "../installers/installer-variables.ts";
import { buildEnded, buildFailed } from "./build-error.ts";
import type { ImageBuildRequest } from "./build-request.ts";
import type { BuildProgram, BuildSandbox } from "./build-sandbox.ts";
import { copyScript, userScript } from "./build-scripts.ts";
import { firstState, nextStep, type BuildAction, type BuildState } from "./next-step.ts";
import type { Dockerfile } from "./parse-dockerfile.ts";
import type { Instruction } from "./split-dockerfile.ts";

type Variables = Readonly<Record<string, string>>;
/** What programs of a build have that no instruction says otherwise. */
export const root = { environment: {}, workingDirectory: "/", user: "0:0" } as const;

/** A build under way. */
export interface Build {
  readonly place: BuildSandbox;
  readonly dockerfile: Dockerfile;
  readonly request: ImageBuildRequest;
  /** Of its network. */
  readonly variables: Variables;
  readonly signal: AbortSignal;
}

/** Executes the Dockerfile; resolves to the variables that it has set. @throws IMAGE_UNAVAILABLE, INVALID_REQUEST */
export async function runSteps(build: Build): Promise<Variables> {
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
export async function openBuildNetwork(
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
export async function withinTime<T>(
  timeoutMs: number,
  caller: Caller,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
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
