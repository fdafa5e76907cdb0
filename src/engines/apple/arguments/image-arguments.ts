import type { ImageBuild } from "../../engine.ts";
import { labelOption } from "./label-option.ts";
import { option } from "./option.ts";

/** Argument vector that fetches an image for one platform: without a platform the command fetches all of them. */
export function pullArguments(reference: string, platform: string): readonly string[] {
  return ["image", "pull", option("progress", "none"), option("platform", platform), "--", reference];
}

/** Argument vector that builds an image from a folder with a `Dockerfile`. */
export function buildArguments(
  build: Pick<ImageBuild, "reference" | "arguments" | "labels">,
  { folder, platform }: { readonly folder: string; readonly platform: string },
): readonly string[] {
  return [
    "build",
    option("progress", "plain"),
    option("platform", platform),
    option("tag", build.reference),
    option("file", `${folder}/Dockerfile`),
    ...Object.entries(build.arguments).map(([name, value]) => option("build-arg", `${name}=${value}`)),
    ...Object.entries(build.labels).map(([name, value]) => labelOption(name, value)),
    "--",
    folder,
  ];
}
