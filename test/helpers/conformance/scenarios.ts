/** The scenarios of the public suite for servers. `glovebox mcp` runs those that apply to it; the fixture door runs all. */
export interface Scenario {
  readonly name: string;
  /** Why it does not apply to Glovebox's own tools; null if it does, and passes. */
  readonly notApplicable: string | null;
}

const reasons = {
  tool: "calls a tool of the suite's own",
  answer: "answers are text and pictures",
  prompts: "there are no prompts",
  completion: "prompts and fixed resources are what completion is for",
  resources: "reads resources of the suite's own; Glovebox's are what answers left out",
  subscription: "no resource ever changes",
  logging: "the only log messages are alerts; the log goes to stderr",
  asking: "no tool asks the client's model or its user",
} as const;

const byReason: readonly (readonly [reason: string | null, names: readonly string[]])[] = [
  [
    null,
    [
      "dns-rebinding-protection",
      "logging-set-level",
      "ping",
      "resources-list",
      "server-initialize",
      "server-sse-multiple-streams",
      "server-sse-polling",
      "tools-list",
    ],
  ],
  [
    reasons.tool,
    [
      "json-schema-2020-12",
      "tools-call-error",
      "tools-call-image",
      "tools-call-simple-text",
      "tools-call-with-progress",
    ],
  ],
  [reasons.answer, ["tools-call-audio", "tools-call-embedded-resource", "tools-call-mixed-content"]],
  [reasons.logging, ["tools-call-with-logging"]],
  [
    reasons.asking,
    ["elicitation-sep1034-defaults", "elicitation-sep1330-enums", "tools-call-elicitation", "tools-call-sampling"],
  ],
  [
    reasons.prompts,
    [
      "prompts-get-embedded-resource",
      "prompts-get-simple",
      "prompts-get-with-args",
      "prompts-get-with-image",
      "prompts-list",
    ],
  ],
  [reasons.completion, ["completion-complete"]],
  [reasons.resources, ["resources-read-binary", "resources-read-text", "resources-templates-read"]],
  [reasons.subscription, ["resources-subscribe", "resources-unsubscribe"]],
];

export const scenarios: readonly Scenario[] = byReason
  .flatMap(([notApplicable, names]) => names.map((name) => ({ name, notApplicable })))
  .toSorted((a, b) => a.name.localeCompare(b.name, "en"));
