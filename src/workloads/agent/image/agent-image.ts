import { tarOf } from "../../../base/tar/tar.ts";
import type { Engine } from "../../../engines/engine.ts";
import type { Sandboxes } from "../../../sandbox/sandboxes.ts";
import { lookAtBase } from "../../program/image/look-at-base.ts";
import { SharedBuilds, type BuildListener } from "../../program/image/shared-builds.ts";
import { isSameImage } from "../../../policy/image-reference.ts";
import { agentNames, type AgentName } from "../../../policy/agents/agent-names.ts";
import { agentTable, isAgentName } from "../commands/agent-table.ts";
import { agentLabels, readAgentFiles } from "./agent-files.ts";
import { fetchAgent, type FetchAgentOptions } from "./fetch-agent.ts";

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
