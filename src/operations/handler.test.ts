import { expect, it } from "vitest";
import type { ChosenEngine } from "../engines/discover.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { grantedEngines } from "./handler.ts";

/** A choice among engines that answer, of which `usual` is the deployment's. */
function choose(granted: readonly string[], { usual, answering }: { usual: string; answering: readonly string[] }) {
  const pick = async (name: string | undefined): Promise<ChosenEngine> => {
    const wanted = name === undefined || name === "auto" ? usual : name;
    if (answering.includes(wanted)) return { engine: { name: wanted } as ChosenEngine["engine"], notes: [] };
    throw new GloveboxError("ENGINE_UNAVAILABLE", `${wanted} does not answer.`);
  };
  const chooser = grantedEngines({ chooseEngine: pick, chooseSessionEngine: pick }, granted);
  return async (name?: string): Promise<string> => {
    const { engine } = await chooser.chooseEngine(name);
    expect((await chooser.chooseSessionEngine(name)).engine.name).toBe(engine.name);
    return engine.name;
  };
}

it("an engine that is not granted is refused by its name", async () => {
  const engineFor = choose(["one"], { usual: "one", answering: ["one", "two"] });
  expect(await engineFor("one")).toBe("one");
  await expect(engineFor("two")).rejects.toMatchObject({
    errorType: "POLICY_DENIED",
    context: { field: "engine", rule: "engines", value: "two", allowed: ["one"] },
  });
});

it.each([
  [undefined, ["one"], "one"],
  ["auto", ["one"], "one"],
  [undefined, ["two"], "two"],
  [undefined, ["three", "two"], "two"],
])(
  "for %j a grant of %j gives the usual one, or the first granted one that answers",
  async (name, granted, expected) => {
    expect(await choose(granted, { usual: "one", answering: ["one", "two"] })(name)).toBe(expected);
  },
);

it("an engine beyond the grant never stands in for those that do not answer", async () => {
  const engineFor = choose(["three"], { usual: "one", answering: ["one"] });
  await expect(engineFor()).rejects.toMatchObject({
    errorType: "ENGINE_UNAVAILABLE",
    message: "three does not answer.",
  });
});
