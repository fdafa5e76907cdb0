import { bunArchives } from "../config/host/bun-archives.ts";
import type { Config } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import { checkImageReference, isSameImage } from "../policy/image-reference.ts";
import { readRegistrySettings } from "../egress/registries/registry-settings.ts";
import { defaultSessionImage } from "../policy/session-profile.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import { AgentImages, agentOfImage } from "../workloads/agent/image/agent-image.ts";
import { ensureImage, type ProvideImage } from "../workloads/program/ensure-image.ts";
import { BaseImage } from "../workloads/session/base-image/base-image.ts";
import { ToolsImage, type PythonIndexSettings } from "../workloads/session/base-image/tools-image.ts";

export interface OpenedImages {
  readonly baseImage: BaseImage;
  readonly agentImages: AgentImages;
  /** Pulls an image, or builds it if it is one of our own, if the engine does not have it. */
  readonly provideImage: ProvideImage;
  /** Whose callers may name any image. @throws INVALID_REQUEST */
  readonly checkImage: (reference: string, field?: string) => string;
}

/** Nothing is pulled or built yet; builds run in sandboxes of `installers`. */
export function openImages(config: Config, host: Host, installers: Sandboxes): OpenedImages {
  const { temporaryDirectory, platform, environment } = host;
  const fetching = { sandboxes: installers, temporaryDirectory, platform, environment, bunArchives: bunArchives(host) };
  const baseImage = new BaseImage({ ...fetching, base: config.sessionBaseImage });
  const agentImages = new AgentImages({ ...fetching, base: config.agents.imageBase });
  const toolsImage = new ToolsImage({
    images: config.toolsImages,
    sessionImage: config.images.session,
    pythonIndex: () => openPythonIndex({ environment, platform }),
  });
  const listed = [
    ...new Set([
      ...Object.values(config.images),
      ...config.allowedImages,
      ...config.templates.map(({ image }) => image),
    ]),
  ];
  const provideImage: ProvideImage = async (needed, engine, { signal, onPull, onBuild }) => {
    const agent = agentOfImage(needed.image);
    const recipe = toolsImage.recipeOf(needed.image);
    const isOwn = isSameImage(needed.image, defaultSessionImage) || recipe !== null || agent !== null;
    if (!isOwn || !(await engine.capabilities({ signal })).images) {
      return ensureImage(needed, engine, { signal, onPull, listed });
    }
    if (await engine.images.has(needed.image, { signal })) return;
    const listener = { onPull, onBuild };
    if (recipe !== null) {
      await provideImage({ image: toolsImage.baseOf(recipe), origin: "configured" }, engine, { signal, ...listener });
      await toolsImage.build(engine, recipe, { listener, signal });
    } else if (agent === null) await baseImage.build(engine, listener, signal);
    else await agentImages.build(engine, agent, { listener, signal });
  };
  return { baseImage, agentImages, provideImage, checkImage: checkImageReference };
}

/** What pip asks and trusts on this machine; an index that needs a password is left out. */
async function openPythonIndex(host: Pick<Host, "environment" | "platform">): Promise<PythonIndexSettings> {
  const { registries, pythonCertificates } = await readRegistrySettings(host);
  const url = registries.find(({ kind }) => kind === "python")?.url ?? null;
  const isOpen = url !== null && URL.canParse(url) && new URL(url).username === "";
  return { url: isOpen ? url : null, certificates: pythonCertificates };
}
