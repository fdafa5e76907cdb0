import { readNodeVersion, type Host } from "../config/host/host.ts";
import { readPackageVersion } from "../config/host/own-package.ts";
import { effectiveSettings } from "../config/setting-layers.ts";
import type { ChooseOptions, EngineChoice, Engines } from "../engines/discover.ts";
import { isOnlyByName, productEngines, hintsOf, type EngineHints } from "../engines/engine-table.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { checkChoice } from "../policy/request/invalid-value.ts";
import { defaultSessionImage } from "../policy/profile.ts";
import type { OperationCall } from "./contract/operation-contract.ts";
import { handle } from "./handler.ts";
import {
  doctorContract,
  severities,
  type DoctorChoice,
  type DoctorResponse,
  type DoctorEngine,
  type Finding,
} from "./doctor-contract.ts";
import type { Engine, EngineName, EngineProbe } from "../engines/engine.ts";
import { probeEngine } from "../engines/unavailability.ts";
import type { Isolation } from "../policy/isolation.ts";
import { knownDangers, nodeFindings } from "./known-dangers.ts";
import { imageFindings, sessionImageLabels, versionFindings, type ImageLabels } from "./doctor-findings.ts";
import type { Capabilities, EngineConnection, EngineSetup } from "../engines/capabilities.ts";
import { agentNames, type AgentName } from "../policy/known-agents.ts";
import { agentLabelNames, agentLabels, readAgentFiles } from "../workloads/agent/agent-files.ts";
import { imageOfAgent } from "../workloads/agent/agent-image.ts";
import { assertEnforceable, optionalDemands } from "../engines/assert-enforceable.ts";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config, LoadedConfig } from "../config/config.ts";
import type { EngineChooser } from "./settle.ts";

export interface DoctorNeeds extends Pick<EngineChooser, "openState"> {
  readonly config: Config;
  /** Where the values of `config` come from; null if it was built by hand. */
  readonly loaded: LoadedConfig | null;
  readonly host: Host;
  readonly engines: Engines;
  /** Engine for requests that name none; overrides the configuration's. */
  readonly defaultEngine: string | undefined;
}

/** Settings of this machine's kernel that matter to every engine on it; null if there is no such file. */
interface KernelSettings {
  /** As in `uname -r`. */
  readonly release: string | null;
  /** What happens when a program crashes: a file name for its dump, or `|` and a program to start. */
  readonly corePattern: string | null;
  /**
   * Vulnerabilities of the processor through which programs can read each other's memory, and which are not mitigated
   * here.
   */
  readonly processorFaults: readonly string[];
}

const processorFolder = "/sys/devices/system/cpu/vulnerabilities";

/** Reads them from /proc and /sys; Linux only. */
async function readKernelSettings(): Promise<KernelSettings> {
  const [release, corePattern, processorFaults] = await Promise.all([
    setting("/proc/sys/kernel/osrelease"),
    setting("/proc/sys/kernel/core_pattern"),
    readProcessorFaults(),
  ]);
  return { release, corePattern, processorFaults };
}

async function readProcessorFaults(): Promise<readonly string[]> {
  const names = await readdir(processorFolder).catch(() => []);
  const states = await Promise.all(
    names.map(async (name) => [name, await setting(join(processorFolder, name))] as const),
  );
  return unmitigated(states);
}

/** Those that the kernel reports as vulnerable, except the two that only work within one program. */
export function unmitigated(states: readonly (readonly [name: string, state: string | null])[]): readonly string[] {
  const faults = states.filter(([name, state]) => state?.startsWith("Vulnerable") === true && !withinOne.has(name));
  return faults.map(([name]) => name);
}

const withinOne: ReadonlySet<string> = new Set(["spec_store_bypass", "spectre_v1"]);

async function setting(path: string): Promise<string | null> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch {
    // Not Linux, or hidden from this process: unknown.
    return null;
  }
}

/** What findings about settings are derived from. */
export interface Surroundings {
  readonly setup: EngineSetup;
  readonly kernel: KernelSettings;
  /** Whether Glovebox itself runs as root. */
  readonly isRoot: boolean;
  /** The engine's own words. */
  readonly hints: EngineHints;
}

/** What an operator should know about the settings of an engine and its kernel, the worst first. */
export function settingFindings(surroundings: Surroundings): readonly Finding[] {
  const { setup, kernel, isRoot, hints } = surroundings;
  const sharesKernel = setup.kernel !== undefined && setup.kernel === kernel.release;
  return [
    ...(setup.connection === undefined ? [] : connectionFindings(setup.connection, hints)),
    ...(setup.openAddresses ?? []).map(openAddress),
    ...(setup.setuid === true ? [setuidHelper] : []),
    ...(setup.containerRoot === "root" ? [rootful(hints)] : []),
    ...(sharesKernel && !isRoot && givesRoot(setup) ? [rootBySocket(hints)] : []),
    ...(setup.accessControl?.length === 0 ? [noAccessControl] : []),
    ...(setup.inProcess === true && isRoot ? [runsAsRoot] : []),
    ...(sharesKernel && kernel.corePattern?.startsWith("|") === true ? [coreHelper] : []),
    ...(sharesKernel && kernel.processorFaults.length > 0 ? [processorFaults(kernel.processorFaults)] : []),
  ];
}

function connectionFindings(
  { kind, tls, remote, origin }: EngineConnection,
  { encryption = "TLS, a socket forwarded over SSH" }: EngineHints,
): readonly Finding[] {
  if (kind === "socket") return [];
  const fix = `Use ${encryption}, or the local socket.`;
  return [...(kind === "tcp" ? tlsFindings({ tls, remote, origin }, fix) : []), ...(remote ? [elsewhere(origin)] : [])];
}

function tlsFindings(
  { tls, remote, origin }: Pick<EngineConnection, "tls" | "remote" | "origin">,
  fix: string,
): readonly Finding[] {
  if (tls === null) {
    return [
      {
        severity: remote ? "danger" : "warning",
        what: `The engine's API is reached over plain TCP (${origin}).`,
        why: "Anyone who can reach that port is root on the engine's machine, and anyone in between can read and change everything.",
        fix,
      },
    ];
  }
  if (tls === "verified") return [];
  return [
    {
      severity: remote ? "danger" : "warning",
      what: `The engine's certificate is not verified (${origin}).`,
      why: "Anyone in between can impersonate the engine.",
      fix,
    },
  ];
}

function elsewhere(origin: string): Finding {
  return {
    severity: "note",
    what: `The engine runs on another machine (${origin}).`,
    why: "Folders of this machine cannot be mounted there, and everything that runs passes over the network.",
    fix: "Nothing, if you want that; else unset it to use an engine on this machine.",
  };
}

function openAddress(url: string): Finding {
  const isNear = /^https?:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::|$)/i.test(url);
  return {
    severity: isNear ? "warning" : "danger",
    what: `The engine's API is open to anyone who can reach ${url}.`,
    why: "It requires no client certificate, and anyone who can use it is root on the engine's machine.",
    fix: "Remove that address from the engine's hosts (daemon.json, -H), or let it verify clients (tlsverify).",
  };
}

/** Whether the engine runs as root and can be controlled by a user who is not root. */
function givesRoot({ connection, containerRoot }: EngineSetup): boolean {
  return connection?.kind === "socket" && (containerRoot === "root" || containerRoot === "remapped");
}

const rootBySocket = ({ access }: EngineHints): Finding => ({
  severity: "note",
  what: `This user can talk to an engine that runs as root${access === undefined ? "" : ` (${access})`}.`,
  why: "That makes every program this user starts as powerful as root on this machine; sandboxes cannot reach the engine.",
  fix: "Run the server as a dedicated user, or use a rootless engine.",
});

function processorFaults(names: readonly string[]): Finding {
  return {
    severity: "note",
    what: `The processor has unmitigated vulnerabilities: ${names.join(", ")}.`,
    why: "A program may read the memory of other programs on the same processor, including other sandboxes and the host.",
    fix: "Update the kernel and the microcode, and boot without mitigations=off; for a virtual machine, on its host.",
  };
}

const setuidHelper: Finding = {
  severity: "warning",
  what: "bubblewrap is installed setuid root.",
  why: "Every user of this machine can run its set-up code as root; newer versions refuse to run that way.",
  fix: "Remove the bit (`chmod u-s` on bwrap) and allow user namespaces to unprivileged users instead.",
};

const rootful = ({ userNamespaces, strongerRuntime }: EngineHints): Finding => ({
  severity: "note",
  what: "The root of a container is root on the engine's machine: there is no user namespace.",
  why: "Programs run without root and without capabilities, but a program that escapes through a kernel or runtime bug may become root.",
  fix: `Run the engine rootless or with user namespaces${userNamespaces === undefined ? "" : ` (${userNamespaces})`}${strongerRuntime === undefined ? "" : `, or install ${strongerRuntime.product} (${strongerRuntime.name})`}.`,
});

const noAccessControl: Finding = {
  severity: "note",
  what: "Neither AppArmor nor SELinux confines containers.",
  why: "They would add a layer of protection behind namespaces, seccomp and dropped capabilities.",
  fix: "Enable one of them in the kernel and the engine, if the distribution has it.",
};

const runsAsRoot: Finding = {
  severity: "note",
  what: "Glovebox runs as root.",
  why: "That gives sandboxes of this engine hard limits and a host user of their own, but a bug in setting one up runs with root's power.",
  fix: "If you can, run it as a normal user, under systemd with Delegate=yes for hard limits.",
};

const coreHelper: Finding = {
  severity: "note",
  what: "A crash starts a host program (kernel.core_pattern begins with |).",
  why: "A crash in a sandbox also starts it, outside the sandbox, as root and with data chosen by the program in the sandbox.",
  fix: "If you do not want that: `sysctl -w kernel.core_pattern=core`.",
};

/** What an engine is compared with. */
export interface Measure {
  readonly minIsolation: Isolation;
  readonly kernel: KernelSettings;
  readonly isRoot: boolean;
  /** Version of the Node that runs Glovebox. */
  readonly nodeVersion: string;
  /** Whether sessions run in the image that Glovebox builds. */
  readonly usesOwnImage: boolean;
  /** Whether trial requests may be made to it. */
  readonly isTried: boolean;
}

/** Probes the engine; a failing engine is a result, an abort is not. @throws CANCELLED */
export async function examineEngine(engine: Engine, measure: Measure, signal?: AbortSignal): Promise<DoctorEngine> {
  const probe = await probeEngine(engine, signal);
  const looksAtImage = measure.usesOwnImage && probe.available && probe.capabilities.images;
  const labels = looksAtImage ? await sessionImageLabels(engine, signal) : null;
  const hasImages = probe.available && probe.capabilities.images;
  const ofAgents = hasImages ? await lookAtAgentImages(engine, signal) : [];
  const own = probe.available && measure.isTried ? await ownFindings(engine, signal) : [];
  return engineReport(engine.name, probe, measure, [...own, ...imageFindings(engine.name, labels), ...ofAgents]);
}

/** What the engine finds itself; a failure is a finding, too. @throws CANCELLED */
async function ownFindings(engine: Engine, signal?: AbortSignal): Promise<readonly Finding[]> {
  try {
    return (await engine.check?.({ signal })) ?? [];
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType === "CANCELLED") throw error;
    const why = "Nothing is known of what else may be wrong with it.";
    return [{ severity: "warning", what: error.message, why, fix: error.suggestion }];
  }
}

/** An engine of the product that this version has no adapter for. */
export function missingEngine(name: EngineName): DoctorEngine {
  return {
    name,
    available: false,
    usable: false,
    reason: "Not in this version of Glovebox.",
    findings: [],
  };
}

/** What a probe's answer means, together with what else was found. */
export function engineReport(
  name: EngineName,
  probe: EngineProbe,
  measure: Measure,
  others: readonly Finding[] = [],
): DoctorEngine {
  if (!probe.available) {
    const { reason, howToStart } = probe;
    return { name, available: false, usable: false, reason, how_to_start: howToStart, findings: [] };
  }
  const { version, capabilities, components = [], setup = {} } = probe;
  const demands = demandReport(capabilities, { engine: name, minIsolation: measure.minIsolation });
  return {
    name,
    available: true,
    usable: demands.usable,
    version,
    isolation: capabilities.isolation,
    capabilities: capabilityTable(capabilities),
    components: components.map(({ ociRuntime: _, ...component }) => component),
    ...(setup.connection === undefined ? {} : { reached_by: `${setup.connection.kind}, ${setup.connection.origin}` }),
    findings: [
      ...demands.findings,
      ...versionFindings(components, setup, knownDangers),
      ...nodeFindings(setup, measure.nodeVersion),
      ...settingFindings({ setup, kernel: measure.kernel, isRoot: measure.isRoot, hints: hintsOf(name) }),
      ...others,
    ].toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity)),
  };
}

/**
 * Each capability in words: `yes`, `no`, the name of a substitute, or a kind such as `memory`; isolation and sentences
 * are separate.
 */
function capabilityTable({
  isolation: _,
  notes: _notes,
  limitsAdvice: _limitsAdvice,
  isolationAdvice: _isolationAdvice,
  ...abilities
}: Capabilities): Readonly<Record<string, string>> {
  const words = Object.entries(abilities).flatMap(([name, ability]) =>
    ability === undefined ? [] : [[snakeCase(name), inWords(ability)] as const],
  );
  return Object.fromEntries(words);
}

function inWords(ability: boolean | string | { readonly substitute: string }): string {
  if (typeof ability === "boolean") return ability ? "yes" : "no";
  return typeof ability === "string" ? ability : ability.substitute;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** An image of agents that an engine has. */
interface AgentImage {
  readonly agent: AgentName;
  readonly labels: ImageLabels;
}

/** The label is untrusted. */
const versionForm = /^[a-z]+@\d[\w.+-]{0,39}$/;

/** What an operator should know about the engine's images of agents: outdated ones are still used. @throws CANCELLED */
async function lookAtAgentImages(engine: Engine, signal?: AbortSignal): Promise<readonly Finding[]> {
  try {
    const images: AgentImage[] = [];
    for (const agent of agentNames) {
      const name = imageOfAgent(agent);
      if (!(await engine.images.has(name, { signal }))) continue;
      images.push({ agent, labels: await engine.images.labels(name, { signal }) });
    }
    if (images.length === 0) return [];
    const files = await readAgentFiles();
    return images.flatMap((image) => agentImageFindings(engine.name, image, agentLabels(image.agent, files)));
  } catch (error) {
    if (error instanceof GloveboxError && error.errorType === "CANCELLED") throw error;
    return [];
  }
}

/** One image, compared with the labels it would get if built now. */
export function agentImageFindings(
  engine: EngineName,
  { agent, labels }: AgentImage,
  now: ImageLabels,
): readonly Finding[] {
  const has = labels[agentLabelNames.agent] ?? "";
  const wanted = now[agentLabelNames.agent] ?? "";
  const differs = [
    ...(has === wanted ? [] : [`has ${versionForm.test(has) ? has : "an agent that it does not name"}, not ${wanted}`]),
    ...(labels[agentLabelNames.files] === now[agentLabelNames.files]
      ? []
      : ["has another version of the program that runs the agent"]),
  ];
  if (differs.length === 0) return [];
  const image = imageOfAgent(agent);
  return [
    {
      severity: "note",
      what: `The image ${image} is not what this Glovebox would build: it ${differs.join(", and it ")}.`,
      why: "Agents use it as it is: they may behave differently, and miss fixes.",
      fix: `Rebuild it: \`glovebox images build --engine ${engine} ${image}\`.`,
    },
  ];
}

/** How the engine satisfies what every run demands: refused runs and substitutes. */
interface DemandReport {
  /** Whether a run with default settings is accepted. */
  readonly usable: boolean;
  readonly findings: readonly Finding[];
}

/** Compares an engine's capabilities with what a run demands, using the same check as runs. */
export function demandReport(
  capabilities: Capabilities,
  { engine, minIsolation }: { engine: EngineName; minIsolation: Isolation },
): DemandReport {
  try {
    const { warnings } = assertEnforceable(capabilities, {
      engine,
      minIsolation,
      optional: optionalDemands(capabilities, []),
    });
    const fix = capabilities.limitsAdvice ?? "Nothing needs to be done.";
    return { usable: true, findings: warnings.length === 0 ? [] : [substitutes(warnings, fix)] };
  } catch (error) {
    if (!(error instanceof GloveboxError)) throw error;
    const refused: Finding = {
      severity: "warning",
      what: error.message,
      why: "Runs on this engine are refused unless they require less.",
      fix: error.suggestion,
    };
    return { usable: false, findings: [refused] };
  }
}

function substitutes(warnings: readonly string[], fix: string): Finding {
  return {
    severity: "note",
    what: warnings.join(" "),
    why: "This is weaker than what runs ask for; the warnings of each result say so.",
    fix,
  };
}

/** For the operator only: it shows the configuration and its file's path. */
export const doctorHandler = handle(doctorContract, run);

async function run(parts: DoctorNeeds, _request: unknown, { signal }: OperationCall): Promise<DoctorResponse> {
  const { engines, config, host, loaded, defaultEngine } = parts;
  const nodeVersion = readNodeVersion();
  const measure = {
    minIsolation: config.minIsolation,
    kernel: await readKernelSettings(),
    isRoot: host.uid === 0,
    nodeVersion,
    usesOwnImage: config.images.session === defaultSessionImage,
  };
  const names = [...productEngines, ...engines.names.filter((name) => !productEngines.includes(name))];
  const asked = checkChoice(defaultEngine ?? config.containerRuntime, ["auto", ...names], "engine");
  const examined = names.map(async (name) => {
    if (!engines.names.includes(name)) return missingEngine(name);
    const engine = await engines.get(name);
    return examineEngine(engine, { ...measure, isTried: name === asked || !isOnlyByName(name) }, signal);
  });
  const { minIsolation } = config;
  const inContainers = config.executionMode === "container";
  const [refused, reports, byDefault, ownMachine, containerMode] = await Promise.all([
    refusalOf(parts),
    Promise.all(examined),
    choice(engines, asked, { allowEmbedded: !inContainers, minIsolation, signal }),
    choice(engines, "auto", { allowEmbedded: !inContainers, minIsolation, signal }),
    choice(engines, "auto", { allowEmbedded: false, minIsolation, signal }),
  ]);
  return {
    version: readPackageVersion(),
    node_version: nodeVersion,
    platform: `${host.platform} ${host.architecture}`,
    ...(refused === null ? {} : { refused }),
    engines: reports,
    chosen_engine: { default: byDefault, own_machine: ownMachine, container_mode: containerMode },
    configuration:
      loaded === null ? { file: null, settings: [] } : { file: loaded.file, settings: [...effectiveSettings(loaded)] },
  };
}

/** Uses the very check that refuses runs. */
async function refusalOf({ openState }: Pick<DoctorNeeds, "openState">): Promise<DoctorResponse["refused"] | null> {
  try {
    await openState();
    return null;
  } catch (error) {
    if (!(error instanceof GloveboxError)) throw error;
    return { why: error.message, fix: error.suggestion };
  }
}

/** The engine that a run would get, chosen by the same code. @throws CANCELLED */
async function choice(engines: Engines, asked: EngineChoice, options: ChooseOptions): Promise<DoctorChoice> {
  try {
    const { engine, notes } = await engines.choose(asked, options);
    const why = asked === "auto" ? "It is the first that answers." : "It is configured.";
    return { asked, engine: engine.name, why: notes[0] ?? why };
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType === "CANCELLED") throw error;
    return { asked, engine: null, why: error.message };
  }
}
