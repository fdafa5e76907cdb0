import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadHostConfig } from "../../src/config/load-config.ts";
import { GloveboxError } from "../../src/errors/glovebox-error.ts";
import { parseRequest } from "../../src/operations/contract/parse-request.ts";
import { executeCodeContract, type ExecuteResponse } from "../../src/operations/execute-contract.ts";
import { createPlatform, type Platform } from "../../src/platform/platform.ts";
import { skipOrFail } from "../helpers/require.ts";

/** Two principals ask for 200 runs at once where ten sandboxes may live, and 100 may wait (SPEC LI4). */
describe("shares of two principals on local", () => {
  let platform: Platform;
  let problem: string | null = null;
  beforeAll(async () => {
    const settings = { max_containers: 10, queue: { limit: 100, timeout: "10m" } };
    const { config, host } = await loadHostConfig({ settings });
    platform = await createPlatform({ config, host, door: "person", defaultEngine: "local" });
    problem = await platform.chooseEngine(undefined).then(
      () => null,
      (error: unknown) => String(error),
    );
  });
  beforeEach((context) => {
    if (problem !== null) skipOrFail(context, "local", problem);
  });
  afterAll(() => platform.close());

  it("are even while both wait: each run once or told when to retry, and the modest one starts as often", async () => {
    const starts: { readonly principal: string; readonly bothWait: boolean }[] = [];
    const pending = { greedy: 180, modest: 20 };
    const ask = async (principal: keyof typeof pending, number: number): Promise<ExecuteResponse | GloveboxError> => {
      const word = `${principal}-${number}`;
      const request = parseRequest(executeCodeContract, { language: "python", code: `print(${JSON.stringify(word)})` });
      const onEvent = (event: { readonly type: string }): void => {
        if (event.type !== "sandbox") return;
        pending[principal] -= 1;
        starts.push({ principal, bothWait: pending.greedy > 0 && pending.modest > 0 });
      };
      try {
        const response = await platform.call(executeCodeContract, request, { principal, onEvent });
        expect(response).toMatchObject({ outcome: "completed", stdout: `${word}\n` });
        return response;
      } catch (error) {
        pending[principal] -= 1;
        if (error instanceof GloveboxError) return error;
        throw error;
      }
    };
    const all = [
      ...Array.from({ length: 180 }, (_, number) => ask("greedy", number)),
      ...Array.from({ length: 20 }, (_, number) => ask("modest", number)),
    ];
    const answers = await Promise.all(all);
    const refused = answers.filter((answer) => answer instanceof GloveboxError);
    const ran = answers.flatMap((answer) => (answer instanceof GloveboxError ? [] : [answer]));
    for (const error of refused) {
      expect(error.errorType).toBe("CAPACITY");
      expect(error.context["retry_after_seconds"]).toBeGreaterThanOrEqual(1);
    }
    expect(answers).toHaveLength(200);
    expect(starts).toHaveLength(ran.length);
    expect(new Set(ran.map((answer) => answer.sandbox_id)).size).toBe(ran.length);
    expect(ran.length).toBe(110);
    expect(answers.slice(180).every((answer) => !(answer instanceof GloveboxError))).toBe(true);
    // The first ten found free places before any waited.
    const contested = starts.slice(10).filter(({ bothWait }) => bothWait);
    const modest = contested.filter(({ principal }) => principal === "modest").length;
    expect(modest / contested.length).toBeGreaterThanOrEqual(0.4);
  });
});
