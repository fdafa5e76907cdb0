import path from "node:path";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { checkRelativePath } from "../request/relative-path.ts";

/** Folder of a sandbox below which additional mounts stand. */
const additionalMountsFolder = "/workspace/extra";

/** Where an additional mount stands in its sandbox, or why it cannot. */
export type MountTarget = { readonly target: string } | { readonly problem: string };

/** The place below `/workspace/extra`: the relative path that is asked for, else the name of what is mounted. */
export function mountTarget(requested: string | undefined, givenPath: string): MountTarget {
  const wanted = (requested ?? path.basename(givenPath)).replace(/(?<=[^/])\/+$/, "");
  try {
    return { target: `${additionalMountsFolder}/${checkRelativePath(wanted, "target")}` };
  } catch (error) {
    if (error instanceof GloveboxError) return { problem: error.message };
    throw error;
  }
}
