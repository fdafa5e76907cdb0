import type { Config } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import { defaultSessionImage } from "../policy/session-profile.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import { ensureImage } from "../workloads/program/ensure-image.ts";
import { BaseImage } from "../workloads/session/base-image/base-image.ts";
import type { ProvideImage } from "../workloads/session/open-session-sandbox.ts";

export interface OpenedImages {
  readonly baseImage: BaseImage;
  /** Pulls the image of a session, or builds our own one, where the engine does not have it. */
  readonly provideImage: ProvideImage;
}

/** Nothing is pulled or built yet; builds run in sandboxes of `installers`. */
export function openImages(config: Config, host: Host, installers: Sandboxes): OpenedImages {
  const baseImage = new BaseImage({
    base: config.sessionBaseImage,
    sandboxes: installers,
    temporaryDirectory: host.temporaryDirectory,
    platform: host.platform,
    environment: host.environment,
  });
  const provideImage: ProvideImage = async (needed, engine, { signal, onPull, onBuild }) => {
    const isOwn = needed.image === defaultSessionImage && (await engine.capabilities({ signal })).images;
    if (!isOwn) return ensureImage(needed, engine, { signal, onPull });
    if (!(await engine.images.has(needed.image, { signal })))
      await baseImage.build(engine, { onPull, onBuild }, signal);
  };
  return { baseImage, provideImage };
}
