import type { Config } from "../config/config.ts";
import type { Engine } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { agentImageFor } from "../workloads/agent/agent-image.ts";
import type { OperationCall } from "./contract/operation-call.ts";
import type { PlatformParts } from "./handling/platform-parts.ts";

/** The engine of a request about images. @throws UNSUPPORTED for an engine without images, ENGINE_UNAVAILABLE */
export async function imageEngine(
  platform: PlatformParts,
  name: string | undefined,
  call: OperationCall,
): Promise<Engine> {
  const { engine } = await platform.chooseEngine(name, { containers: true, signal: call.signal });
  if ((await engine.capabilities(call)).images) return engine;
  throw new GloveboxError(
    "UNSUPPORTED",
    `Engine ${engine.name} has no images: programs run on the host's own system.`,
    {
      suggestion: "Nothing needs to be pulled for it. Start a container engine to use images.",
      context: { engine: engine.name },
    },
  );
}

/** What is fetched ahead of time: nothing for agents, as not every deployment has them. */
export function defaultImages(config: Config): readonly string[] {
  return [...usesOfImages(config)].filter(([, uses]) => !isAgents(uses)).map(([image]) => image);
}

/** Those of the templates of E2B's clients. */
export function templateImages({ templates }: Config): readonly string[] {
  return [...new Set(templates.map(({ image }) => image))];
}

/** Which kinds of work each default image serves. */
export function usesOfImages({ images, agents }: Config): Map<string, string[]> {
  const uses = new Map<string, string[]>();
  for (const [kind, image] of Object.entries(images)) uses.set(image, [...(uses.get(image) ?? []), kind]);
  for (const image of imagesOfAgents(agents)) uses.set(image, [...(uses.get(image) ?? []), agentUse]);
  return uses;
}

const agentUse = "agent";

/** Nothing else: they are built by their first run, as not every deployment has agents. */
function isAgents(uses: readonly string[]): boolean {
  return uses.every((use) => use === agentUse);
}

/** The deployment's, and those of groups that have their own. */
function imagesOfAgents({ agent, image, groups }: Config["agents"]): ReadonlySet<string> {
  const own = Object.values(groups).map((group) => group.image ?? agentImageFor(group.agent?.name ?? agent, image));
  return new Set([agentImageFor(agent, image), ...own]);
}
