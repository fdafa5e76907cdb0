import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import { mergeJson } from "./install-server.ts";

const keys = ["mcpServers", "glovebox"];
const entry = { command: "npx", args: ["--no", "glovebox@1.2.3", "mcp"] };

describe("a JSON configuration", () => {
  it.each(["", "  \n", "{}"])("is begun where there is none: %j", (text) => {
    const merged = mergeJson(text, keys, entry) ?? "";
    expect(JSON.parse(merged)).toEqual({ mcpServers: { glovebox: entry } });
  });

  it("keeps other servers, comments, trailing commas and its indentation", () => {
    const text =
      '// mine\n{\n\t"theme": "dark", // yes\n\t"mcpServers": {\n\t\t"other": { "command": "x" },\n\t},\n}\n';
    const merged = mergeJson(text, keys, entry) ?? "";
    expect(merged).toContain('// mine\n{\n\t"theme": "dark", // yes\n');
    expect(parse(merged, [], { allowTrailingComma: true })).toEqual({
      theme: "dark",
      mcpServers: { other: { command: "x" }, glovebox: entry },
    });
    expect(merged).toContain('\n\t\t"glovebox": {\n\t\t\t"command": "npx"');
  });

  it("has an older entry replaced, and is left alone when nothing changes", () => {
    const text = JSON.stringify({ mcpServers: { glovebox: { command: "old" }, z: 1 } });
    const merged = mergeJson(text, keys, entry) ?? "";
    expect(JSON.parse(merged)).toEqual({ mcpServers: { glovebox: entry, z: 1 } });
    expect(mergeJson(merged, keys, entry)).toBeNull();
  });

  it.each(["{", "[]", "42", '{"mcpServers": []}', '{"mcpServers": "x"}', '{"a": 1} trailing'])(
    "that cannot be changed safely is refused: %s",
    (text) => {
      expect(() => mergeJson(text, keys, entry)).toThrow(SyntaxError);
    },
  );
});
