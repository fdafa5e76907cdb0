import { describe, expect, it } from "vitest";
import { runSuite } from "../helpers/conformance/run-suite.ts";
import { scenarios } from "../helpers/conformance/scenarios.ts";

const passed = (results: ReadonlyMap<string, boolean>): readonly string[] =>
  [...results].flatMap(([name, passes]) => (passes ? [name] : [])).toSorted();
const names = (which: readonly { readonly name: string }[]): readonly string[] =>
  which.map(({ name }) => name).toSorted();

describe("the conformance suite for servers", () => {
  it("passes where it asks for what Glovebox's own tools offer, and nowhere else", async () => {
    const results = await runSuite("glovebox");
    expect([...results.keys()].toSorted()).toEqual(names(scenarios));
    expect(passed(results)).toEqual(names(scenarios.filter(({ notApplicable }) => notApplicable === null)));
  });

  it("passes as a whole with its fixtures on the same code", async () => {
    expect(passed(await runSuite("fixtures"))).toEqual(names(scenarios));
  });
});
