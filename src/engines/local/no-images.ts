import { createHash } from "node:crypto";
import { realpath, stat } from "node:fs/promises";
import { throwIfCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions, ImageStore } from "../engine.ts";

/** The host's interpreters, by their paths; null for what the host has not. */
export type FindInterpreters = (options: CallOptions) => Promise<readonly (string | null | undefined)[]>;

/** Images of an engine that has none: whatever the name, the only one is the host's own system. */
export function noImages(findInterpreters: FindInterpreters): ImageStore {
  return {
    has: async (_reference, { signal } = {}) => {
      throwIfCancelled(signal);
      return true;
    },
    identity: async (_reference, { signal } = {}) => {
      throwIfCancelled(signal);
      const paths = (await findInterpreters({ signal })).filter((path) => typeof path === "string");
      const facts = await Promise.all(paths.map(factsOf));
      const digest = createHash("sha256").update(JSON.stringify(facts)).digest("hex");
      return `host:${digest}`;
    },
    pull: (reference) => Promise.reject(runsNoImages(`${reference} cannot be pulled`)),
    build: ({ reference }) => Promise.reject(runsNoImages(`${reference} cannot be built`)),
    remove: (reference) => Promise.reject(runsNoImages(`${reference} cannot be removed`)),
    list: async (_labels, { signal } = {}) => {
      throwIfCancelled(signal);
      return [];
    },
    labels: async (_reference, { signal } = {}) => {
      throwIfCancelled(signal);
      return {};
    },
  };
}

/** Other ones when the host's operator exchanges the interpreter. */
async function factsOf(path: string): Promise<readonly (string | number)[]> {
  try {
    const real = await realpath(path);
    const { size, mtimeMs, uid } = await stat(real);
    return [real, size, mtimeMs, uid];
  } catch {
    // It disappeared meanwhile, and programs will be told.
    return [path];
  }
}

/** `what` says what cannot be done for it. */
export function runsNoImages(what: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine local runs no images, so ${what}.`, {
    suggestion: "Use Docker or Podman to run an image; on engine local programs run on the host's own system.",
    context: { engine: "local", missing: "images" },
  });
}
