import path from "node:path";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Engine } from "../engines/engine.ts";
import { defaultSessionImage } from "../policy/profile.ts";
import { agentOfImage, imageOfAgent, agentImageFor, type AgentImages } from "../workloads/agent/agent-image.ts";
import { agentNames } from "../policy/known-agents.ts";
import type { OperationCall } from "./contract/operation-contract.ts";
import { handle } from "./handler.ts";
import { callListener, imageProvider } from "./to-wire.ts";
import {
  listImagesContract,
  pullImagesContract,
  buildImagesContract,
  exportPreparedContract,
  importPreparedContract,
  type ImageRow,
  type PreparedResponse,
} from "./images-contract.ts";
import { bunTargetHere, bunVersion, fetchBun } from "../base/bun-packages.ts";
import { bunArchives } from "../config/host/host-paths.ts";
import { readPackageVersion } from "../config/host/own-package.ts";
import { embeddedEngine } from "../config/engine-words.ts";
import { exportPrepared, importPrepared } from "../workloads/prepared-images.ts";
import type { PreparedFile } from "../workloads/manifest.ts";
import type { Config } from "../config/config.ts";
import type { StartNeeds } from "./settle.ts";
import type { BaseImage } from "../workloads/session/session-images.ts";

export interface ImageNeeds extends Pick<
  StartNeeds,
  "config" | "host" | "chooseEngine" | "checkImage" | "provideImage"
> {
  readonly baseImage: BaseImage;
  readonly agentImages: AgentImages;
}

/** The default images of the deployment, and whether the engine has them. */
export const listImagesHandler = handle(listImagesContract, async (platform: ImageNeeds, request, call) => {
  const engine = await imageEngine(platform, request.engine, call);
  const uses = usesOfImages(platform.config);
  const others = agentNames.map(imageOfAgent).filter((image) => !uses.has(image));
  const listed = await rows([...uses.keys(), ...others], { platform, engine, call });
  return { images: listed.filter(({ image, present }) => present || uses.has(image)) };
});

/** Pulls or builds images ahead of their first use. */
export const pullImagesHandler = handle(pullImagesContract, async (platform: ImageNeeds, request, call) => {
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
export const buildImagesHandler = handle(buildImagesContract, async (platform: ImageNeeds, request, call) => {
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
  { platform, engine, call }: { readonly platform: ImageNeeds; readonly engine: Engine; readonly call: OperationCall },
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

/** `export_prepared`: images and Bun for a machine without a network. */
export const exportPreparedHandler = handle(exportPreparedContract, async (platform: ImageNeeds, request, call) => {
  const { host, config } = platform;
  const engine = request.engine === embeddedEngine ? null : await imageEngine(platform, request.engine, call);
  const references = [...defaultImages(config), ...(request.e2b === true ? templateImages(config) : [])];
  const images = engine === null ? [] : [...new Set(references)].map((reference) => ({ engine, reference }));
  const target = request.engine === undefined || engine === null ? bunTargetHere(host) : null;
  const bun =
    target === null
      ? null
      : { target, archive: () => fetchBun(target, { ...host, bunArchives: bunArchives(host), signal: call.signal }) };
  const files = await exportPrepared(
    { images, bun },
    {
      ...{ folder: path.resolve(host.workingDirectory, request.folder), uid: host.uid },
      ...{ version: readPackageVersion(), signal: call.signal, onProgress: callListener(call).onProgress },
    },
  );
  return toWire(files);
});

/** `import_prepared`: imports such a folder. */
export const importPreparedHandler = handle(importPreparedContract, async (platform: ImageNeeds, request, call) => {
  const { host } = platform;
  const isEmbedded = request.engine === embeddedEngine;
  const files = await importPrepared({
    folder: path.resolve(host.workingDirectory, request.folder),
    uid: host.uid,
    bunFolder: bunArchives(host),
    engine: isEmbedded ? null : () => imageEngine(platform, request.engine, call),
    signal: call.signal,
    onProgress: callListener(call).onProgress,
  });
  return toWire(files);
});

function toWire(files: readonly PreparedFile[]): PreparedResponse {
  return {
    files: files.map((row) => ({
      file: row.file,
      what: row.kind === "image" ? `image ${row.reference} (${row.engine})` : `Bun ${bunVersion} for ${row.target}`,
      sha256: row.sha256,
      size_bytes: row.size_bytes,
    })),
  };
}

/** The engine of a request about images. @throws UNSUPPORTED for an engine without images, ENGINE_UNAVAILABLE */
async function imageEngine(platform: ImageNeeds, name: string | undefined, call: OperationCall): Promise<Engine> {
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
function defaultImages(config: Config): readonly string[] {
  return [...usesOfImages(config)].filter(([, uses]) => !isAgents(uses)).map(([image]) => image);
}

/** Those of the templates of E2B's clients. */
function templateImages({ templates }: Config): readonly string[] {
  return [...new Set(templates.map(({ image }) => image))];
}

/** Which kinds of work each default image serves. */
function usesOfImages({ images, agents }: Config): Map<string, string[]> {
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
