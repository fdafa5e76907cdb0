import { tarOf, tarOfFolder } from "../../base/tar.ts";
import type { Engine } from "../../engines/engine.ts";
import type { Sandboxes } from "../../sandbox/sandboxes.ts";
import { lookAtBase, SharedBuilds, type LinuxTarget, type BuildListener } from "../program/image-builds.ts";
import { isSameImage } from "../../policy/image-reference.ts";
import { agentNames, type AgentName } from "../../policy/known-agents.ts";
import { agentTable, isAgentName } from "./commands/agent-table.ts";
import { agentLabels, readAgentFiles } from "./agent-files.ts";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGzip, constants } from "node:zlib";
import { throwIfCancelled } from "../../base/abort.ts";
import { toolCommand } from "../../base/shell-words.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { AgentPackage } from "./commands/agent-program.ts";

interface FetchAgentOptions {
  readonly temporaryDirectory: string;
  readonly platform: NodeJS.Platform;
  /** The host's own environment, which may configure npm. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

const fetchWithinMs = 600_000;

/**
 * An agent's packages for a Linux as an archive of their `node_modules`, gzipped. The host's npm fetches them, since it
 * knows the registry, its password and how to reach it; none of their scripts runs.
 * @throws IMAGE_UNAVAILABLE, CANCELLED
 */
async function fetchAgent(agent: AgentPackage, target: LinuxTarget, options: FetchAgentOptions): Promise<Uint8Array> {
  const folder = await mkdtemp(path.join(options.temporaryDirectory, "glovebox-agent-"));
  try {
    await install(agent, target, { ...options, folder });
    await checkHash(agent, folder);
    return await archiveOf(path.join(folder, "node_modules"));
  } catch (cause) {
    throwIfCancelled(options.signal);
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const reason = missing
      ? "npm was not found on this machine"
      : `${agent.name}@${agent.version} could not be fetched from the npm registry`;
    throw new GloveboxError("IMAGE_UNAVAILABLE", `The image of agents cannot be built: ${reason}.`, {
      suggestion: `Check that \`npm view ${agent.name}@${agent.version}\` works on the machine that runs Glovebox.`,
      context: { image: "glovebox-agent", reason },
      cause,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function install(
  { name, version }: AgentPackage,
  { cpu, libc }: LinuxTarget,
  { folder, platform, environment, signal }: FetchAgentOptions & { readonly folder: string },
): Promise<void> {
  // In a folder of its own, so that no project's settings apply.
  await writeFile(path.join(folder, "package.json"), JSON.stringify({ dependencies: { [name]: version } }));
  const words = [
    ...["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-bin-links", "--silent"],
    ...["--os=linux", `--cpu=${cpu}`, `--libc=${libc}`],
  ];
  await promisify(execFile)(...toolCommand("npm", words, platform), {
    cwd: folder,
    env: environment,
    timeout: fetchWithinMs,
    ...(signal === undefined ? {} : { signal }),
  });
}

interface LockFile {
  readonly packages?: Readonly<Record<string, { readonly integrity?: string }>>;
}

/** npm has checked the bytes against the registry's hash; this checks that hash against the pinned one. */
async function checkHash({ name, integrity }: AgentPackage, folder: string): Promise<void> {
  if (integrity === undefined) return;
  const lock = JSON.parse(await readFile(path.join(folder, "package-lock.json"), "utf8")) as LockFile;
  if (lock.packages?.[`node_modules/${name}`]?.integrity === integrity) return;
  throw new Error(`the registry's ${name} has a different hash than the pinned one`);
}

/** Compressed for speed, as it is unpacked right away. */
async function archiveOf(folder: string): Promise<Uint8Array> {
  // It contains the registry's name.
  await rm(path.join(folder, ".package-lock.json"), { force: true });
  const packed = createGzip({ level: constants.Z_BEST_SPEED });
  const [bytes] = await Promise.all([buffer(packed), pipeline(tarOfFolder(folder), packed)]);
  return bytes;
}

export interface AgentImageOptions extends Omit<FetchAgentOptions, "signal"> {
  /** The base image: a Linux with Node and with apk or apt-get. */
  readonly base: string;
  /** For inspecting the base; takes no run's slot. */
  readonly sandboxes: Sandboxes;
}

/** The image with `pi`; the other agents' images have their names as tags. */
const defaultAgentImage = "glovebox-agent";

/** The image that holds that agent. */
export function imageOfAgent(agent: AgentName): string {
  return agent === "pi" ? defaultAgentImage : `${defaultAgentImage}:${agent}`;
}

/** The image for an agent if `configured` is the deployment's: Glovebox has one image per agent. */
export function agentImageFor(agent: string, configured: string): string {
  return configured === defaultAgentImage && isAgentName(agent) ? imageOfAgent(agent) : configured;
}

/** The agent whose image Glovebox builds under that name, however it is written; null for any other image. */
export function agentOfImage(image: string): AgentName | null {
  if (isSameImage(image, defaultAgentImage)) return "pi";
  return agentNames.find((agent) => isSameImage(image, `${defaultAgentImage}:${agent}`)) ?? null;
}

/** Agent images: each is built if it is missing, and only once however many callers need it. */
export class AgentImages {
  readonly #options: AgentImageOptions;
  readonly #builds = new Map<Engine, SharedBuilds<AgentName>>();

  constructor(options: AgentImageOptions) {
    this.#options = options;
  }

  /**
   * Builds that agent's image, or waits for the build in progress. If a caller aborts, the build continues for the
   * others.
   * @throws IMAGE_UNAVAILABLE with the last lines of the step that failed, CANCELLED
   */
  async build(
    engine: Engine,
    agent: AgentName,
    { listener, signal }: { readonly listener: BuildListener; readonly signal?: AbortSignal | undefined },
  ): Promise<void> {
    const builds = this.#builds.get(engine) ?? new SharedBuilds<AgentName>();
    this.#builds.set(engine, builds);
    await builds.join(agent, (everyone) => this.#build(engine, agent, everyone), { listener, signal });
  }

  async #build(engine: Engine, agent: AgentName, { onPull, onBuild }: BuildListener): Promise<void> {
    const { base, sandboxes } = this.#options;
    const image = imageOfAgent(agent);
    if (!(await engine.images.has(base))) {
      await engine.images.pull(base, { useCredentials: true, onProgress: (progress) => onPull(base, progress) });
    }
    const target = await lookAtBase(engine, base, { sandboxes, setting: "agents.image_base" });
    const agentPackage = agentTable[agent].install(target);
    onBuild(image, `fetching ${agentPackage.name} ${agentPackage.version}`);
    const archive = await fetchAgent(agentPackage, target, this.#options);
    const files = await readAgentFiles();
    await engine.images.build(
      {
        reference: image,
        context: tarOf([...files, { path: "agent.tar.gz", content: archive }]),
        arguments: { BASE: base, PROGRAM: agentPackage.program, COMMAND: agent },
        labels: agentLabels(agent, files),
      },
      { onLine: (line) => onBuild(image, line) },
    );
  }
}
