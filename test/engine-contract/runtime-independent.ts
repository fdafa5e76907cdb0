/**
 * Topics whose behaviours do not depend on the OCI runtime, and why. They are tested on every engine; with another runtime on
 * the same engine only by `npm run test:full`.
 */
export const runtimeIndependent: Readonly<Record<string, string>> = {
  images: "the engine has its images before any runtime is asked for a container",
  listing: "labels and states are kept by the engine",
  losses: "an adapter finds its containers again by what the engine says of them",
  unavailable: "there is no engine, and no container either",
  arguments: "the engine hands a runtime one argument vector, however it was written",
  "file trees": "scripts of ours pack and unpack them, with the tools of the image",
  "updates of trees": "scripts of ours bring them up to date, with the tools of the image",
  "live copies": "they are updates of trees, one after another",
  "hostile answers": "the host bounds what it reads, whatever kernel a program answers from",
  variables: "the engine writes the environment into what it hands to a runtime",
};
