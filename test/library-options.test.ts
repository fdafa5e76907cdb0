import { readFileSync } from "node:fs";
import { describe, expect, expectTypeOf, it } from "vitest";
import { writeOptionTypes } from "../scripts/library-options/option-types.ts";
import type { Camel } from "../src/library/objects/forms/camel.ts";
import type {
  CommandOptions,
  EnvironmentOptions,
  ExecuteOptions,
  ProcessOptions,
  SessionOptions,
  SessionRunOptions,
} from "../src/library/objects/options.ts";
import type { CreateEnvironmentRequest } from "../src/operations/environments/create-environment-contract.ts";
import type { RunCommandRequest } from "../src/operations/environments/run-command-contract.ts";
import type { ExecuteRequest } from "../src/operations/execute/execute-contract.ts";
import type { StartProcessRequest } from "../src/operations/processes/start-process-contract.ts";
import type { RunCodeRequest } from "../src/operations/session/run-code-contract.ts";
import type { OpenSessionRequest } from "../src/operations/session/sessions-contract.ts";

/** Without what the formatter adds. */
const plain = (text: string): string => text.replaceAll(/[\s()|]/g, "");

/** Names at every depth, whose types are then compared by what can be handed on. */
type Names<Value> = Value extends readonly (infer Each)[]
  ? Names<Each>
  : Value extends object
    ? string extends keyof Value
      ? never
      : { [Name in keyof Value]-?: Name | Names<Exclude<Value[Name], undefined>> }[keyof Value]
    : never;

describe("the written types of the library's options", () => {
  it("are those of the schemas today: node scripts/write-library-options.ts", () => {
    const file = readFileSync(new URL("../src/library/objects/options.ts", import.meta.url), "utf8");
    expect(plain(file)).toBe(plain(writeOptionTypes()));
  });

  it("have the names that the requests have, in camelCase, and no other", () => {
    expectTypeOf<Names<ExecuteOptions>>().toEqualTypeOf<Names<Camel<ExecuteRequest>>>();
    expectTypeOf<Names<SessionOptions>>().toEqualTypeOf<Names<Camel<OpenSessionRequest>>>();
    expectTypeOf<Names<SessionRunOptions>>().toEqualTypeOf<Exclude<Names<Camel<RunCodeRequest>>, "sessionId">>();
    expectTypeOf<Names<EnvironmentOptions>>().toEqualTypeOf<Names<Camel<CreateEnvironmentRequest>>>();
    expectTypeOf<Names<CommandOptions>>().toEqualTypeOf<Exclude<Names<Camel<RunCommandRequest>>, "envId">>();
    expectTypeOf<Names<ProcessOptions>>().toEqualTypeOf<
      Exclude<Names<Camel<StartProcessRequest>>, "envId" | "sessionId">
    >();
  });

  it("take what the requests take", () => {
    expectTypeOf<Camel<ExecuteRequest>>().toExtend<ExecuteOptions>();
    expectTypeOf<Camel<OpenSessionRequest>>().toExtend<SessionOptions>();
    expectTypeOf<Camel<RunCodeRequest>>().toExtend<SessionRunOptions>();
    expectTypeOf<Camel<CreateEnvironmentRequest>>().toExtend<EnvironmentOptions>();
    expectTypeOf<Camel<RunCommandRequest>>().toExtend<CommandOptions>();
    expectTypeOf<Camel<StartProcessRequest>>().toExtend<ProcessOptions>();
    // @ts-expect-error: limits have fields
    const wrong: ExecuteOptions = { language: "python", code: "", limits: "lots" };
    expect(wrong.limits).toBe("lots");
  });
});
