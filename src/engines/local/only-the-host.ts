import { throwIfCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { ImageStore } from "../engine.ts";

/** Images of an engine that has none: whatever the name, the one there is, is the host's own system. */
export const onlyTheHost: ImageStore = {
  has: async (_reference, { signal } = {}) => {
    throwIfCancelled(signal);
    return true;
  },
  // The host's software changes when its operator says so.
  identity: async (_reference, { signal } = {}) => {
    throwIfCancelled(signal);
    return null;
  },
  pull: (reference) => Promise.reject(noImages(`${reference} cannot be pulled`)),
  build: ({ reference }) => Promise.reject(noImages(`${reference} cannot be built`)),
  remove: (reference) => Promise.reject(noImages(`${reference} cannot be removed`)),
  list: async (_labels, { signal } = {}) => {
    throwIfCancelled(signal);
    return [];
  },
  labels: async (_reference, { signal } = {}) => {
    throwIfCancelled(signal);
    return {};
  },
};

/** `what` says what cannot be done for it. */
export function noImages(what: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine local runs no images, so ${what}.`, {
    suggestion: "Use Docker or Podman to run an image; on engine local programs run on the host's own system.",
    context: { engine: "local", missing: "images" },
  });
}
