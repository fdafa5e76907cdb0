import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { mergeToml } from "./install-server.ts";

const keys = ["mcp_servers", "glovebox"];
const entry = { command: "npx", args: ["--no", "glovebox@1.2.3", "mcp"], startup_timeout_sec: 60 };

describe("a TOML configuration", () => {
  it("is begun where there is none", () => {
    expect(parse(mergeToml("", keys, entry) ?? "")).toEqual({ mcp_servers: { glovebox: entry } });
  });

  it("keeps everything else as it was written", () => {
    const text = 'model = "o" # mine\n\n[mcp_servers.other]\ncommand = "x"\n\n[mcp_servers.other.env]\nA = "1"\n';
    const merged = mergeToml(text, keys, entry) ?? "";
    expect(merged.startsWith(text.trimEnd())).toBe(true);
    expect(parse(merged)).toEqual({
      model: "o",
      mcp_servers: { other: { command: "x", env: { A: "1" } }, glovebox: entry },
    });
  });

  it("has an older entry replaced in its place, and is left alone when nothing changes", () => {
    const text = '[mcp_servers.glovebox]\ncommand = "old"\nargs = []\n# a note\n\n[next]\na = 1\n';
    const merged = mergeToml(text, keys, entry) ?? "";
    expect(parse(merged)).toEqual({ mcp_servers: { glovebox: entry }, next: { a: 1 } });
    expect(mergeToml(merged, keys, entry)).toBeNull();
  });

  it.each([
    "a = ",
    'mcp_servers = { glovebox = { command = "old" } }\n',
    '[mcp_servers]\nglovebox = { command = "old" }\n',
    '[mcp_servers.glovebox]\ncommand = "old"\n[mcp_servers.glovebox.env]\nA = "1"\n',
    'text = """\n[mcp_servers.glovebox]\n"""\n',
  ])("that cannot be changed safely is refused: %j", (text) => {
    expect(() => mergeToml(text, keys, entry)).toThrow(SyntaxError);
  });
});
