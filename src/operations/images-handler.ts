import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Engine } from "../engines/engine.ts";
import type { PlatformParts } from "./handling/platform-parts.ts";
import { defaultSessionImage } from "../policy/session-profile.ts";
import { agentOfImage, imageOfAgent } from "../workloads/agent/agent-image.ts";
import { agentNames } from "../policy/agent-names.ts";
import type { OperationCall } from "./contract/operation-call.ts";
import { handle } from "./handling/handler.ts";
import { callListener, imageProvider } from "./handling/call-events.ts";
import { defaultImages, imageEngine, templateImages, usesOfImages } from "./image-engine.ts";
import { listImagesContract, pullImagesContract, buildImagesContract, type ImageRow } from "./images-contract.ts";

/** The default images of the deployment, and whether the engine has them. */
export const listImagesHandler = handle(listImagesContract, async (platform, request, call) => {
  const engine = await imageEngine(platform, request.engine, call);
  const uses = usesOfImages(platform.config);
  const others = agentNames.map(imageOfAgent).filter((image) => !uses.has(image));
  const listed = await rows([...uses.keys(), ...others], { platform, engine, call });
  return { images: listed.filter(({ image, present }) => present || uses.has(image)) };
});

/** Pulls or builds images ahead of their first use. */
export const pullImagesHandler = handle(pullImagesContract, async (platform, request, call) => {
  const engine = await imageEngine(platform, request.engine, call);
  const listener = callListener(call);
  const named = request.images?.map((image, index) => platform.checkImage(image, `images[${index}]`));
  const missing = defaultImages(platform.config);
  for (const image of named ?? missing) {
    if (named === undefined && image === defaultSessionImage) {
      await imageProvider(platform, engine, call)(image, "configured");
      continue;
    }
    // A named image is pulled again, as its tag may have moved; a default one only if it is missing.
    if (named === undefined && (await engine.images.has(image, call))) continue;
    await engine.images.pull(image, {
      signal: call.signal,
      useCredentials: true,
      onProgress: (progress) => listener.onPull(image, progress),
    });
  }
  const further = request.e2b === true ? templateImages(platform.config) : [];
  for (const image of further) await imageProvider(platform, engine, call)(image, "configured");
  return { images: await rows([...new Set([...(named ?? missing), ...further])], { platform, engine, call }) };
});

/** Rebuilds Glovebox's own images, with the Bun and the agents of this version. */
export const buildImagesHandler = handle(buildImagesContract, async (platform, request, call) => {
  const { images = [defaultSessionImage] } = request;
  images.forEach(checkOwnImage);
  const engine = await imageEngine(platform, request.engine, call);
  const { signal } = call;
  const listener = callListener(call);
  for (const image of images) {
    const agent = agentOfImage(image);
    if (agent === null) await platform.baseImage.build(engine, listener, signal);
    else await platform.agentImages.build(engine, agent, { listener, signal });
  }
  return { images: await rows(images, { platform, engine, call }) };
});

function checkOwnImage(image: string, index: number): void {
  if (image === defaultSessionImage || agentOfImage(image) !== null) return;
  throw new GloveboxError("INVALID_REQUEST", `Image "${image}" is not one that Glovebox builds.`, {
    suggestion: `It builds ${[defaultSessionImage, ...agentNames.map(imageOfAgent)].join(", ")}.`,
    context: { field: `images[${index}]` },
  });
}

async function rows(
  images: readonly string[],
  {
    platform,
    engine,
    call,
  }: { readonly platform: PlatformParts; readonly engine: Engine; readonly call: OperationCall },
): Promise<ImageRow[]> {
  const uses = usesOfImages(platform.config);
  return Promise.all(
    images.map(async (image) => ({
      image,
      used_for: uses.get(image) ?? [],
      engine: engine.name,
      present: await engine.images.has(image, call),
    })),
  );
}
