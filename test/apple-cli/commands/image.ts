import type { Context, Work } from "../context.ts";
import type { StoredImage } from "../images/image-store.ts";
import { readReference, shortReference } from "../images/reference.ts";
import { CommandError, ConnectionError, NotImitated } from "../output/command-error.ts";
import { dateOf, type JsonObject } from "../output/swift-json.ts";
import { isAtLeast } from "../parser/version.ts";
import { fetchImage } from "./need-image.ts";
import { printInspection, printList } from "./print-list.ts";

const indexType = "application/vnd.oci.image.index.v1+json";

function imageJson(version: string, image: StoredImage): JsonObject {
  const descriptor = { digest: image.digest, mediaType: indexType, size: image.sizeBytes };
  if (!isAtLeast(version, "1.0.0")) return { reference: image.reference, descriptor };
  const platform = { architecture: "arm64", os: "linux", variant: "v8" };
  const config = {
    architecture: "arm64",
    os: "linux",
    created: dateOf(version, image.createdMs),
    config: {
      Env: image.environment,
      Entrypoint: image.entrypoint.length === 0 ? undefined : image.entrypoint,
      Cmd: image.command.length === 0 ? undefined : image.command,
      User: image.user === "" ? undefined : image.user,
      WorkingDir: image.workingDirectory === "" ? undefined : image.workingDirectory,
      Labels: Object.keys(image.labels).length === 0 ? undefined : image.labels,
      StopSignal: image.stopSignal,
    },
    rootfs: { type: "layers", diff_ids: image.layers },
    history: [],
  };
  return {
    configuration: { creationDate: dateOf(version, image.createdMs), descriptor, name: image.reference },
    id: image.digest.replace("sha256:", ""),
    variants: [{ config, digest: image.digest, platform, size: image.sizeBytes }],
  };
}

/** Fetches an image; prints nothing on standard output. */
export const pull: Work = async (context) => {
  await fetchImage(context, context.options.argument(0));
  if (context.fault === "interrupted") throw new ConnectionError("interrupted");
};

export const listImages: Work = async (context) => {
  const { images, options, settings } = context;
  if (options.has("quiet") && options.has("verbose")) {
    throw new CommandError("invalidArgument", "cannot use flags --quiet and --verbose together");
  }
  const references = await images.references();
  const found = await Promise.all(references.map((reference) => images.find(reference)));
  const there = found.filter((each) => each !== undefined);
  const read = there.map((image) => ({ image, reference: readReference(image.reference) }));
  printList(context, {
    json: there.map((image) => imageJson(settings.version, image)),
    names: read.map(({ reference }) => shortReference(reference)),
    header: ["NAME", "TAG", "DIGEST"],
    rows: read.map(({ image, reference }) => [
      shortReference({ ...reference, tag: undefined, digest: undefined }),
      reference.tag ?? "",
      image.digest.replace("sha256:", "").slice(0, 24),
    ]),
  });
};

async function findAll({ images }: Context, texts: readonly string[]): Promise<readonly (StoredImage | undefined)[]> {
  return Promise.all(texts.map((text) => images.find(text)));
}

export const inspectImages: Work = async (context) => {
  const { options, settings } = context;
  const names = options.arguments;
  const found = await findAll(context, names);
  const missing = names.filter((_, index) => found[index] === undefined).toSorted();
  const there = found.filter((each) => each !== undefined);
  const isNew = isAtLeast(settings.version, "1.0.0");
  if (missing.length === 0 || !isNew) {
    printInspection(
      context,
      there.map((image) => imageJson(settings.version, image)),
    );
  }
  if (missing.length > 0) throw new CommandError("notFound", `image not found: ${missing.join(", ")}`);
};

export const tagImage: Work = async ({ images, options, say }) => {
  const [source = "", target = ""] = options.arguments;
  const found = await images.find(source);
  if (found === undefined) throw new CommandError("notFound", `image with reference ${source}`);
  await images.tag(found.id, readReference(target));
  say.out(target);
};

/** Removes names, but only those that this installation has given. */
export const deleteImages: Work = async (context) => {
  const { images, options, say } = context;
  if (options.has("all")) throw new NotImitated("image delete --all is not imitated");
  const names = options.arguments;
  const found = await findAll(context, names);
  const foreign = found.find((image) => image !== undefined && !image.isOwn);
  if (foreign !== undefined) throw new NotImitated(`${foreign.reference} belongs to other tests`);
  for (const image of found) {
    if (image === undefined) continue;
    await images.untag(readReference(image.reference));
    say.out(image.reference);
  }
  const missing = names.filter((_, index) => found[index] === undefined);
  if (missing.length > 0 && !options.has("force")) {
    const list = missing.map((name) => `"${name}"`).join(", ");
    throw new CommandError("internalError", `failed to delete one or more images: [${list}]`);
  }
  say.err("Reclaimed Zero KB in disk space");
};
