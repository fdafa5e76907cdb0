import type { Sabotage } from "./sabotage.ts";

const selfHeal = "src/engines/apple/open-apple.ts";
const selfHealTest = "src/engines/apple/self-heal.test.ts";
const createTest = "src/engines/apple/create-arguments.test.ts";

export const appleSabotages: readonly Sabotage[] = [
  {
    id: "apple: the service is restarted without a pause",
    file: selfHeal,
    find: "const cooldownMs = 60_000;",
    replace: "const cooldownMs = 0;",
    test: selfHealTest,
    name: "waits 60 s before the next one",
  },
  {
    id: "apple: each run that fails restarts the service",
    file: selfHeal,
    find: "this.#deciding ??= this.#decide()",
    replace: "this.#deciding = this.#decide()",
    test: selfHealTest,
    name: "does so once however many runs fail together",
  },
  {
    id: "apple: other sandboxes are lost to a restart",
    file: selfHeal,
    find: 'if (others.length > 0 && rule !== "always") {',
    replace: "if (others.length > 1_000) {",
    test: selfHealTest,
    name: "beside another live sandbox, with the rule idle",
  },
  {
    id: "apple: containers get the default network",
    file: "src/engines/apple/apple-engine.ts",
    find: 'option("network", "none"),',
    replace: "",
    test: createTest,
    name: "seals it",
  },
  {
    id: "apple: programs have only the filter that guards the supervisor",
    file: "src/engines/apple/apple-engine.ts",
    find: "spawnFilter(binary.architecture, { setuidBits: spec.rootCapabilities !== undefined });",
    replace: "spawnFilter(binary.architecture);",
    test: "src/engines/apple/supervisor-terms.test.ts",
    name: "gives each program the whole policy",
  },
  {
    id: "apple: the end of the command is taken for that of its container",
    file: "src/engines/apple/apple-place.ts",
    find: 'if (state !== "running" && state !== "stopping") return;',
    replace: 'if (state !== "stopping") return;',
    test: "src/engines/apple/apple-engine.test.ts",
    name: "until the service says that it is not",
  },
  {
    id: "apple: a start that is given up leaves its container",
    file: "src/engines/apple/apple-place.ts",
    find: "if (signal?.aborted === true) await this.remove({});",
    replace: "",
    test: "src/engines/apple/apple-engine.test.ts",
    name: "is removed when its caller gives up",
  },
];
