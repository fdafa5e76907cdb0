import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { productEngines } from "../../src/engines/engine-table.ts";
import { Checkout } from "../helpers/checkout.ts";

/** The engine: the containers of the embedded one, under its own name. */
const engine = `
import type { EngineSurroundings } from "../engine-surroundings.ts";
import type { Engine } from "../engine.ts";
import { openLocalEngine } from "../local/local-engine.ts";

export function openToyEngine(surroundings: EngineSurroundings): Engine {
  const made = openLocalEngine(surroundings);
  return {
    name: "toy",
    images: made.images,
    probe: async (options) => {
      const probe = await made.probe(options);
      if (!probe.available) return { ...probe, howToStart: "Wind it up." };
      return { available: true, version: "7", capabilities: probe.capabilities };
    },
    capabilities: (options) => made.capabilities(options),
    create: (spec, options) => made.create(spec, options),
    list: (labels, options) => made.list(labels, options),
    close: () => made.close(),
    [Symbol.asyncDispose]: () => made.close(),
  };
}
`;

/** Its row. */
const row = `  {
    name: "toy",
    embedded: false,
    open: async (surroundings) => (await import("./toy/toy-engine.ts")).openToyEngine(surroundings),
  },`;

const calls = `
import { createGlovebox } from "./src/index.ts";
const hello = { language: "python", code: "print('hello')" };
const shown = ({ engine, stdout }) => ({ engine, stdout });
await using named = await createGlovebox({ engine: "toy" });
await using session = await named.sessions.open();
await session.run({ language: "python", code: "open('kept', 'w').write('still here')" });
await using first = await createGlovebox({ settings: { container_runtime: "auto" } });
console.log(JSON.stringify({
  named: shown(await named.execute(hello)),
  session: shown(await session.run({ language: "python", code: "print(open('kept').read())" })),
  first: shown(await first.execute(hello)),
  other: await createGlovebox({ engine: "top" }).catch(({ errorType, context }) => ({ errorType, valid: context.valid })),
}));
`;

describe("the recipe of an engine, followed in a copy of the sources, on engine local", () => {
  const checkout = new Checkout();
  afterAll(() => checkout.remove());

  beforeAll(() => {
    checkout.add("src/engines/toy/toy-engine.ts", engine);
    checkout.addRow("src/engines/engine-table.ts", {
      after: "export const engineTable: readonly EngineRow[] = [",
      row,
    });
  });

  it("makes one that runs programs by its name and in the order of the table, and that a refusal of others names", async () => {
    expect(JSON.parse(await checkout.print(calls))).toEqual({
      named: { engine: "toy", stdout: "hello\n" },
      session: { engine: "toy", stdout: "still here\n" },
      first: { engine: "toy", stdout: "hello\n" },
      other: { errorType: "INVALID_REQUEST", valid: ["auto", "toy", ...productEngines] },
    });
  });

  it("makes one that the command line takes and that doctor shows with what it enforces", async () => {
    expect(await checkout.run(["run", "--engine", "toy", "-c", "print(40 + 2)"])).toBe("42\n");
    const { engines } = JSON.parse(await checkout.run(["doctor", "--json"])) as {
      readonly engines: readonly unknown[];
    };
    expect(engines).toContainEqual(
      expect.objectContaining({
        name: "toy",
        available: true,
        version: "7",
        capabilities: expect.objectContaining({ images: "no", no_network: "yes" }) as unknown,
      }),
    );
  });
});
