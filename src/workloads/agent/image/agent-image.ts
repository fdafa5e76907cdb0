import { tarOf } from "../../../base/tar/tar.ts";
import type { Engine } from "../../../engines/engine.ts";
import type { Sandboxes } from "../../../sandbox/sandboxes.ts";
import { lookAtBase } from "../../program/image/look-at-base.ts";
import { SharedBuilds, type BuildListener } from "../../program/image/shared-builds.ts";
import type { AgentName } from "../commands/agent-program.ts";
import { agentTable, isAgentName } from "../commands/agent-table.ts";
import { agentLabels, readAgentFiles } from "./agent-files.ts";
import { fetchAgent, type FetchAgentOptions } from "./fetch-agent.ts";

export interface AgentImageOptions extends Omit<FetchAgentOptions, "signal"> {
  /** The image that it is built on: a Linux with Node and with apk or apt-get. */
  readonly base: string;
  /** For a look into the base; takes no place of a run's. */
  readonly sandboxes: Sandboxes;
}

/** The image of agents, with `pi`; those of the others have their names for a tag. */
const defaultAgentImage = "glovebox-agent";

/** The image that holds that agent. */
export function imageOfAgent(agent: AgentName): string {
  return agent === "pi" ? defaultAgentImage : `${defaultAgentImage}:${agent}`;
}

/** The image that agents of that name run in where `configured` is the deployment's: Glovebox's own has one agent each. */
export function agentImageFor(agent: string, configured: string): string {
  return configured === defaultAgentImage && isAgentName(agent) ? imageOfAgent(agent) : configured;
}

/** The agent whose image Glovebox builds under that name; null for any other image. */
export function agentOfImage(image: string): AgentName | null {
  if (image === defaultAgentImage || image === `${defaultAgentImage}:latest`) return "pi";
  const tag = image.startsWith(`${defaultAgentImage}:`) ? image.slice(defaultAgentImage.length + 1) : "";
  return isAgentName(tag) ? tag : null;
}

/** Images of agents: each is built when it is missing, once however many ask for it. */
export class AgentImages {
  readonly #options: AgentImageOptions;
  readonly #builds = new Map<Engine, SharedBuilds<AgentName>>();

  constructor(options: AgentImageOptions) {
    this.#options = options;
  }

  /**
   * Builds that agent's, or waits for the build under way. A caller that gives up leaves the build to the others.
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
      await engine.images.pull(base, { onProgress: (progress) => onPull(base, progress) });
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
