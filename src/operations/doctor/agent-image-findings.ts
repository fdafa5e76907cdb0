import type { Engine, EngineName } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { agentNames, type AgentName } from "../../policy/agents/agent-names.ts";
import { agentLabelNames, agentLabels, readAgentFiles } from "../../workloads/agent/image/agent-files.ts";
import { imageOfAgent } from "../../workloads/agent/image/agent-image.ts";
import type { Finding } from "./finding-schema.ts";
import type { ImageLabels } from "./image-findings.ts";

/** An image of agents that an engine has. */
export interface AgentImage {
  readonly agent: AgentName;
  readonly labels: ImageLabels;
}

/** The label is untrusted. */
const versionForm = /^[a-z]+@\d[\w.+-]{0,39}$/;

/** What an operator should know about the engine's images of agents: outdated ones are still used. @throws CANCELLED */
export async function lookAtAgentImages(engine: Engine, signal?: AbortSignal): Promise<readonly Finding[]> {
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
