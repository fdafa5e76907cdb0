import type { TestedEngine } from "./open-glovebox.ts";
import { testImages } from "./test-images.ts";

type ToolCall = readonly [tool: string, request: Record<string, unknown>];

/** A kind of sandbox that an agent has, and the calls that make it and run something in it. */
export interface TestedOwner {
  readonly name: string;
  readonly engine: TestedEngine;
  readonly make: ToolCall;
  readonly start: (line: string) => ToolCall;
  /** Where its programs start. */
  readonly folder: string;
}

const environment = (engine: TestedEngine): TestedOwner => ({
  name: `an environment on ${engine}`,
  engine,
  make: ["create_environment", { image: testImages.python, env_id: "visited", environment: { MADE_BY: "owner" } }],
  start: (line) => ["run_command", { env_id: "visited", command: ["sh", "-c", line] }],
  folder: "/workdir",
});

const session = (engine: TestedEngine): TestedOwner => ({
  name: `a session on ${engine}`,
  engine,
  make: ["run_code", { language: "python", code: "print(1)", packages: [] }],
  start: (line) => [
    "run_code",
    {
      language: "python",
      code: `import subprocess; subprocess.run(["sh", "-c", ${JSON.stringify(line)}])`,
      packages: [],
    },
  ],
  folder: "/work",
});

/** One on each engine, and one of each kind: for tests in which the owner's programs play no part. */
export const testedOwners: readonly TestedOwner[] = [session("local"), environment("docker"), session("podman")];

/** Every kind on every engine: for programs of other users that run, and are ended, beside the owner's. */
export const allOwners: readonly TestedOwner[] = [...testedOwners, session("docker"), environment("podman")];
