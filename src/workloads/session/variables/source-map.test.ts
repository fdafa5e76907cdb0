import { stripTypeScriptTypes } from "node:module";
import { expect, it } from "vitest";
import { readMappings } from "./source-map.ts";

it("a source map's places are those of what the compiler has read", () => {
  const source =
    "// first\n\n\nenum Kind { A = 1 }\n\nfunction f(a: number) {\n\n    throw new Error(`x${a}`);\n}\nf(Kind.A)\n";
  const made = stripTypeScriptTypes(source, { mode: "transform", sourceMap: true });
  const [code = "", map = ""] = made.split("//# sourceMappingURL=data:application/json;base64,");
  const { mappings } = JSON.parse(Buffer.from(map, "base64").toString()) as { readonly mappings: string };
  const places = readMappings(mappings);
  const [there, here] = [code.split("\n"), source.split("\n")];
  const line = there.findIndex((each) => each.includes("throw"));
  expect(line).not.toBe(7);
  expect(places[line]?.[0]).toEqual([4, 7, 4]);
  const error = there[line]?.indexOf("Error") ?? -1;
  expect(places[line]).toContainEqual([error, 7, here[7]?.indexOf("Error")]);
});

it("what is no source map has no more places than characters", () => {
  expect(readMappings("")).toEqual([[]]);
  expect(readMappings("AAAA;;AACA,C,IADA")).toEqual([
    [[0, 0, 0]],
    [],
    [
      [0, 1, 0],
      [5, 0, 0],
    ],
  ]);
  const hostile = `${"+/".repeat(100_000)};${"\u0000,?".repeat(10_000)}`;
  expect(readMappings(hostile).flat().length).toBeLessThan(hostile.length);
});
