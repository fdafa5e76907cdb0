import type { Config } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import type { LoadedMountPolicy } from "../config/load-mount-policy.ts";
import { parseNetwork, type NetworkPolicy } from "../policy/network/network.ts";
import type { AlertBook } from "../telemetry/alert-book.ts";
import type { ProvideImage } from "../workloads/program/ensure-image.ts";
import type { ChosenEngine } from "../engines/discover.ts";
import type { Isolation } from "../policy/isolation.ts";
import type { Demand } from "../engines/assert-enforceable.ts";
import { resolveLimits, type LimitKind, type Limits } from "../policy/limits.ts";
import { checkEnvironment } from "../policy/request/environment-variables.ts";
import type { Settings } from "../workloads/run/settings.ts";
import type { OperationCall } from "./contract/operation-contract.ts";
import type { LimitsRequest, RequestCommand } from "./contract/request-schemas.ts";
import { mebibyte } from "../base/bytes.ts";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { readSecret } from "../config/read-secret.ts";
import { chooseSecrets, type RequestedSecrets } from "../policy/secrets.ts";
import type { ProgramSecret } from "../sandbox/program-secret.ts";
import { utf8Length } from "../base/streams/utf8.ts";
import { wordsAsShellLine } from "../base/shell-words.ts";
import { checkArguments, maxArgumentBytes } from "../policy/request/requested-program.ts";

/** What handlers need that start sandboxes: how requests are checked, and where engines and images come from. */
export interface StartNeeds extends Pick<EngineChooser, "minIsolation" | "chooseEngine"> {
  readonly config: Config;
  readonly host: Host;
  /** Refuses a network policy that the deployment, or the caller's grant, does not allow. @throws POLICY_DENIED */
  assertNetworkAllowed(policy: NetworkPolicy, field?: string): void;
  /**
   * An image that a request names, as given, unless it is no reference or the caller's grant does not allow it.
   * @throws INVALID_REQUEST, POLICY_DENIED naming the field
   */
  checkImage(reference: string, field?: string): string;
  readonly provideImage: ProvideImage;
  readonly alertBook: AlertBook;
}

/** What handlers need that open folders and files of this machine. */
export interface MountNeeds {
  readonly host: Host;
  /** What sandboxes may currently get of this machine's disk. @throws INVALID_REQUEST for a bad mount allowlist */
  loadMountPolicy(): Promise<LoadedMountPolicy>;
}

/** What a workload needs of the platform, without what depends on its engine and its call. */
export type RunNeeds<Dependencies> = Omit<Dependencies, "engine" | "provideImage" | "maxOutputBytes">;

/** `session` for `run_code` and what belongs to its session; `other` for everything else. */
export type IsolationKind = "session" | "other";

/** What a request needs of its engine. */
export interface EngineNeeds {
  /** Default: what the deployment demands. */
  readonly minIsolation?: Isolation | undefined;
  /**
   * Whether only containers from images are acceptable, so that the embedded engine is never a substitute. Default
   * false.
   */
  readonly containers?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Which engine a request gets, and how strongly that must isolate. */
export interface EngineChooser {
  /**
   * The isolation that a request demands: its own, or the deployment's. Sessions over stdio take the strongest that the
   * host supports, unless the deployment sets one (SPEC RT5).
   * @throws POLICY_DENIED for less than the deployment demands, unless the request may accept that
   */
  minIsolation(kind: IsolationKind, requested?: Isolation): Isolation;
  /** The engine that a request names, or the deployment's; it is known to answer. */
  chooseEngine(name: string | undefined, needs?: EngineNeeds): Promise<ChosenEngine>;
  /** The same for `run_code`, whose engine is the embedded one unless the deployment has containers for it (SPEC RT4). */
  chooseSessionEngine(name: string | undefined, needs?: EngineNeeds): Promise<ChosenEngine>;
  /**
   * Creates the state folder, without which no engine is chosen.
   * @throws PERMISSION_DENIED
   */
  openState(): Promise<void>;
  /**
   * Checks the engine that must be available from the start: in container mode, or if one was named (SPEC RT1). Settles
   * where sessions run, if that depends on which engines answer.
   * @throws ENGINE_UNAVAILABLE with its start instructions
   */
  assertEngineAnswers(signal?: AbortSignal): Promise<SettledSessions | null>;
}

/** Where sessions run that name no engine, as found at the start; it stays so (SPEC RT4). */
export interface SettledSessions {
  /** The engine of their containers; null: they run in the embedded sandbox, because no engine has containers. */
  readonly engine: string | null;
}

/** The fields of a request that say what its sandbox is (SPEC RT10). */
interface SettingsRequest extends TimedRequest {
  readonly name?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly network?: string | readonly string[] | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly oci_runtime?: string | undefined;
  readonly min_isolation?: Isolation | undefined;
}

interface TimedRequest {
  readonly limits?: LimitsRequest | undefined;
  /** Short for the one in `limits`. */
  readonly timeout_seconds?: number | undefined;
}

type Parts = Pick<StartNeeds, "config" | "assertNetworkAllowed" | "minIsolation">;

/**
 * What every request that starts a sandbox says of it, checked; nothing is started yet.
 * @throws INVALID_REQUEST naming the field, POLICY_DENIED for a network or an isolation that is not to be had
 */
export function settle(
  kind: LimitKind,
  request: SettingsRequest,
  platform: Parts,
  { sandboxId }: Pick<OperationCall, "sandboxId">,
): Settings {
  const { config } = platform;
  return {
    sandboxId,
    name: request.name,
    labels: request.labels ?? {},
    network: allowedNetwork(request.network, platform),
    limits: requestedLimits(kind, request, config),
    environment: checkEnvironment(request.environment ?? {}),
    hostEnvironment: config.hostEnvironment,
    ociRuntime: request.oci_runtime,
    minIsolation: platform.minIsolation("other", request.min_isolation),
    explicitDemands: explicitDemands(kind, request, config.explicitSettings),
  };
}

/** The network that a request names, or none. @throws INVALID_REQUEST, POLICY_DENIED */
export function allowedNetwork(
  requested: string | readonly string[] | undefined,
  platform: Pick<StartNeeds, "assertNetworkAllowed">,
): NetworkPolicy {
  const network = parseNetwork(requested);
  platform.assertNetworkAllowed(network);
  return network;
}

/** A request's limits. @throws INVALID_REQUEST */
export function requestedLimits(
  kind: LimitKind,
  { limits, timeout_seconds: seconds }: TimedRequest,
  { limits: defaults, ceilings }: Pick<Config, "limits" | "ceilings">,
): Limits {
  return resolveLimits({
    kind,
    defaults,
    ceilings,
    requested: { ...limits, ...(seconds === undefined ? {} : { timeout_seconds: seconds }) },
    fieldNames: seconds === undefined ? {} : { timeout_seconds: "timeout_seconds" },
  });
}

/** Limits and policies that the request or the configuration names, as demands on the engine (SPEC RT5). */
export function explicitDemands(
  kind: LimitKind,
  { limits, network }: { readonly limits?: LimitsRequest | undefined; readonly network?: unknown },
  configured: readonly string[],
): Demand[] {
  const named = namedLimits(kind, limits, configured);
  const byField: readonly [string, Demand][] = [
    ["cpus", "cpuLimit"],
    ["memory_mb", "memoryLimit"],
    ["pids", "pidsLimit"],
  ];
  const ofLimits = byField.filter(([field]) => named.has(`limits.${kind}.${field}`)).map(([, demand]) => demand);
  return network === undefined ? ofLimits : [...ofLimits, "noNetwork"];
}

/** Whether the request or the configuration names the size of scratch (SPEC LI1). */
export function isDiskNamed(
  kind: LimitKind,
  { limits }: { readonly limits?: LimitsRequest | undefined },
  configured: readonly string[],
): boolean {
  return namedLimits(kind, limits, configured).has(`limits.${kind}.disk_mb`);
}

/** What ran, and the highest limits it could have had. */
export interface RunLimits {
  readonly kind: LimitKind;
  readonly ceilings: Pick<Limits, "timeoutMs" | "memoryBytes">;
}

/** How to need less of a limit, and how to ask for more. */
interface Advice {
  readonly less: string;
  readonly more: string;
}

const time: Advice = { less: "Simplify the code so that it does less work", more: "raise timeout_seconds" };
const goesOn = "have it go on as a background process (start_process)";
const memory: Advice = {
  less: "Use less memory (work in smaller pieces or stream the data)",
  more: "raise limits.memory_mb",
};

/** By kind of work; a session and an environment keep the memory limit that they were created with. */
const advice: Readonly<Record<LimitKind, { readonly time: Advice; readonly memory: Advice }>> = {
  execute: { time, memory },
  session: {
    time: { ...time, less: `${time.less}, or ${goesOn}` },
    memory: { ...memory, more: "begin another session with a higher limits.memory_mb" },
  },
  environment: {
    time: { ...time, less: `Do less in one command, or ${goesOn}` },
    memory: { ...memory, more: "create another environment with a higher limits.memory_mb" },
  },
  test: { time: { ...time, less: "Run fewer tests at once" }, memory },
  preview: { time, memory },
  agent: { time: { less: "Ask for less at once", more: "raise timeout_seconds" }, memory },
};

/**
 * An error of a run with a suggestion that works: it names the field that the call takes and its maximum, or says that
 * the limit is already at its maximum.
 */
export function withLimitAdvice(error: GloveboxError, { kind, ceilings }: RunLimits): GloveboxError {
  const { errorType, message, context, cause } = error;
  const { timeout_seconds: seconds, limit_mb: mebibytes } = context;
  const isTime = errorType === "TIMEOUT" && typeof seconds === "number";
  if (!isTime && (errorType !== "OOM_KILLED" || typeof mebibytes !== "number")) return error;
  const { less, more } = advice[kind][isTime ? "time" : "memory"];
  const [given, most] = isTime
    ? [seconds, ceilings.timeoutMs / 1_000]
    : [mebibytes as number, ceilings.memoryBytes / mebibyte];
  const unit = isTime ? "s" : "MiB";
  const rest =
    given < most ? `, or ${more} (at most ${most} ${unit}).` : `: the limit of ${most} ${unit} is the highest here.`;
  return new GloveboxError(errorType, message, { suggestion: `${less}${rest}`, context, cause });
}

/** Who requests secrets, and for what. */
interface SecretsAsker {
  readonly principal: string;
  readonly kind: LimitKind;
  /** Variables that the request itself sets. */
  readonly taken: readonly string[];
}

/**
 * The current values of the secrets that a request names.
 * @throws INVALID_REQUEST for a name that is not available to it and for too many bytes in total, UNSUPPORTED for a
 * secret without a value
 */
export async function readSecrets(
  { config, host }: Pick<StartNeeds, "config" | "host">,
  requested: RequestedSecrets,
  asker: SecretsAsker,
): Promise<readonly ProgramSecret[]> {
  const chosen = chooseSecrets(requested, config.secrets, asker);
  const secrets = await Promise.all(
    chosen.map(async ({ variable, offer }) => ({
      variable,
      name: offer.name,
      value: await readSecret(offer, host),
    })),
  );
  checkEnvironment(Object.fromEntries(secrets.map(({ variable, value }) => [variable, value])), "secrets");
  return secrets;
}

/**
 * A request's command as a program and its arguments: a string is run by `sh -c`. @throws INVALID_REQUEST naming the
 * field
 */
export function readCommand(given: RequestCommand, field: string): readonly string[] {
  return typeof given === "string" ? ["sh", "-c", checkLine(given, field)] : checkWords(given, field);
}

/**
 * A request's command as a shell line, for a project's copy, where every command starts through a shell that finds what
 * was installed: the words of a list are quoted, so that the shell changes nothing of them. @throws INVALID_REQUEST
 * naming the field
 */
export function readShellLine(given: RequestCommand, field: string): string {
  return checkLine(typeof given === "string" ? given : wordsAsShellLine(checkWords(given, field)), field);
}

/** The same, or "" for one that is empty: nothing is run. @throws INVALID_REQUEST naming the field */
export function readShellLineOrNothing(given: RequestCommand, field: string): string {
  const isNothing = typeof given === "string" ? given.trim() === "" : given.length === 0;
  return isNothing ? "" : readShellLine(given, field);
}

/** Standard input of a program: as its request has it, else as it comes with the call; undefined for none. */
export function inputOf(
  { stdin }: { readonly stdin?: string | undefined },
  call: Pick<OperationCall, "stdin">,
): AsyncIterable<Uint8Array> | undefined {
  return stdin === undefined ? call.stdin : inOnePiece(stdin);
}

/** Both alphabets, and an end that may be padded. */
const form = /^[\w+/-]*={0,2}$/;

/**
 * The bytes of a text in base64, whose lines may be broken. `Buffer.from` alone would skip what is none, and decode a plain
 * text to nonsense.
 * @throws INVALID_REQUEST naming the field
 */
export function decodeBase64(text: string, field: string): Buffer {
  const written = text.replaceAll(/\s/g, "");
  // Four characters are three bytes, so a rest of one is none; and padding fills four up, if it is there.
  const padding = written.endsWith("==") ? 2 : written.endsWith("=") ? 1 : 0;
  const rest = (written.length - padding) % 4;
  if (form.test(written) && rest !== 1 && (padding === 0 || padding + rest === 4))
    return Buffer.from(written, "base64");
  throw invalidField(field, "base64, as its encoding says", "something else");
}

interface DockerfileRequest {
  readonly dockerfile?: boolean | undefined;
  readonly image?: string | undefined;
}

/**
 * Whether to build the project's Dockerfile: only if both the request and the deployment allow it (SPEC TE4).
 * @throws POLICY_DENIED if the deployment does not, INVALID_REQUEST if an image is given too
 */
export function checkDockerfile(
  { dockerfile = false, image }: DockerfileRequest,
  { buildDockerfiles, prebuiltOnly }: Pick<StartNeeds["config"], "buildDockerfiles" | "prebuiltOnly">,
): boolean {
  if (!dockerfile) return false;
  if (image !== undefined) throw invalidField("dockerfile", "either `dockerfile` or `image`", "both");
  if (buildDockerfiles && !prebuiltOnly) return true;
  const rule = buildDockerfiles ? "prebuilt_only" : "build_dockerfiles";
  throw new GloveboxError("POLICY_DENIED", `This deployment builds no Dockerfiles of projects (${rule}).`, {
    suggestion: "Name an `image` that has what the project needs, or have the operator set build_dockerfiles to true.",
    context: { field: "dockerfile", rule },
  });
}

/** Which place a request means, and in the same form, which one an answer is about. */
export interface PlaceFields {
  readonly env_id?: string | undefined;
  readonly session_id?: string | undefined;
}

/** The place of an answer. */
export type AboutPlace = { readonly env_id: string } | { readonly session_id: string };

/** @throws INVALID_REQUEST if a request names two places */
export function assertOnePlace({ env_id: environment, session_id: session }: PlaceFields): void {
  if (environment === undefined || session === undefined) return;
  throw invalidField("session_id", "to be left out beside env_id", session);
}

function namedLimits(
  kind: LimitKind,
  limits: LimitsRequest | undefined,
  configured: readonly string[],
): ReadonlySet<string> {
  return new Set([...configured, ...Object.keys(limits ?? {}).map((field) => `limits.${kind}.${field}`)]);
}

function checkWords(words: readonly string[], field: string): readonly string[] {
  const command = checkArguments(words, field);
  if ((command[0] ?? "") === "") throw invalidField(`${field}[0]`, "the name of a program", command[0]);
  return command;
}

function checkLine(line: string, field: string): string {
  const bytes = utf8Length(line);
  if (line.trim() !== "" && bytes <= maxArgumentBytes && !line.includes("\0") && line.isWellFormed()) return line;
  const shown = line.length > 100 ? `${bytes} bytes` : line;
  throw invalidField(field, `a shell line of Unicode text without NUL, at most ${maxArgumentBytes} bytes`, shown);
}

async function* inOnePiece(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  if (text !== "") yield Buffer.from(text);
}
