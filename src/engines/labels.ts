/** Labels that mark every object of ours on an engine (SPEC SE5, CL1). */
export const labels = {
  /** On everything that is ours, always `true`: what lists are asked by. */
  managed: "glovebox.managed",
  /** Identity of the server that made it. */
  owner: "glovebox.owner",
  /** Kind of work: execute, session, environment, test, preview, agent. */
  kind: "glovebox.kind",
  /** Id of the sandbox. */
  sandbox: "glovebox.sandbox",
  /** JSON list of the host's folders that its programs may write to, where there are any. */
  writablePaths: "glovebox.writable-paths",
  /** Hard end, RFC 3339: after it anyone may remove what does not run. */
  expiresAt: "glovebox.expires-at",
  /** On an image that was made of a container: the tag that it was given then, which images made of it do not have. */
  image: "glovebox.image",
  /** On such an image: number of the user that the container's programs had, who owns what they wrote. */
  programUser: "glovebox.program-user",
  /** On an image that later runs take: what it was built of, as a hash; `none` on one that nobody takes later. */
  kept: "glovebox.kept",
  /** On such an image: variables of its programs, as JSON in base64url. */
  keptVariables: "glovebox.kept-variables",
} as const;

/** Labels that find everything of ours on an engine, whoever made it. */
export const managed: Readonly<Record<string, string>> = { [labels.managed]: "true" };

/** Labels that find images which outlive those who made them, for later runs: no sweep takes them. */
export const keptImages: Readonly<Record<string, string>> = { [labels.managed]: "kept" };
