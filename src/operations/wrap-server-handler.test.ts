import { describe, expect, it } from "vitest";
import { insidePath, readServerCommand } from "./wrap-server-handler.ts";

const target = "/workspace/extra/docs";

describe("paths in the command of a server", () => {
  it.each(["linux", "darwin"] as const)("are those of the sandbox on %s", (platform) => {
    const mounts = [{ hostPaths: ["/home/me/link", "/srv/docs"], target }];
    const inside = (text: string): string => insidePath(text, mounts, platform);
    expect(["/srv/docs", "/srv/docs/a/b", "--root=/home/me/link/x"].map(inside)).toEqual([
      target,
      `${target}/a/b`,
      `--root=${target}/x`,
    ]);
    const others = ["/srv/docs2", "/srv", "docs", "--root=docs", "", "https://x/srv/docs", "/srv/docs/../keys"];
    expect(others.map(inside)).toEqual(others);
  });

  it("have the sandbox's slashes on win32", () => {
    const mounts = [{ hostPaths: ["C:\\docs"], target }];
    expect(insidePath("--root=C:\\docs\\a\\b", mounts, "win32")).toBe(`--root=${target}/a/b`);
    expect(insidePath("D:\\docs", mounts, "win32")).toBe("D:\\docs");
  });
});

const read = (line: string): readonly unknown[] => {
  const { language, packages, importedModule, launch } = readServerCommand(line.split(" "));
  return [language, packages, importedModule, launch];
};

describe("the command of a server", () => {
  it.each([
    ["npx -y @a/server-x /data", ["javascript", ["@a/server-x"], null, ["package", "@a/server-x", "", "/data"]]],
    ["npx @a/server-x@1.2.3 -y", ["javascript", ["@a/server-x@1.2.3"], null, ["package", "@a/server-x", "", "-y"]]],
    ["npx -y -p a@1 --package=b tool -p x", ["javascript", ["a@1", "b"], null, ["package", "a", "tool", "-p", "x"]]],
    ["npx -- server --flag", ["javascript", ["server"], null, ["package", "server", "", "--flag"]]],
    ["/usr/bin/npx.cmd server", ["javascript", ["server"], null, ["package", "server", ""]]],
    ["cmd /c npx -y server", ["javascript", ["server"], null, ["package", "server", ""]]],
    ["bunx server", ["javascript", ["server"], null, ["package", "server", ""]]],
    ["npm exec -y -- server a", ["javascript", ["server"], null, ["package", "server", "", "a"]]],
    ["pnpm dlx server", ["javascript", ["server"], null, ["package", "server", ""]]],
    ["uvx mcp-x --zone UTC", ["python", ["mcp-x"], null, ["script", "mcp-x", "--zone", "UTC"]]],
    ["uvx mcp-x@1.2", ["python", ["mcp-x==1.2"], null, ["script", "mcp-x"]]],
    ["uvx mcp-x[web]@latest", ["python", ["mcp-x[web]"], null, ["script", "mcp-x"]]],
    ["uvx --from mcp-x==2 --with a,b tool", ["python", ["mcp-x==2", "a", "b"], null, ["script", "tool"]]],
    ["uv tool run mcp-x", ["python", ["mcp-x"], null, ["script", "mcp-x"]]],
    ["pipx run --spec mcp-x tool", ["python", ["mcp-x"], null, ["script", "tool"]]],
    ["python3.12 -u -m mcp_x.server -v", ["python", [], "mcp_x.server", ["module", "mcp_x.server", "-v"]]],
    ["python server.py -m x", ["python", [], null, ["interpreter", "python", "server.py", "-m", "x"]]],
    ["node server.js 1", ["javascript", [], null, ["interpreter", "", "", "server.js", "1"]]],
    ["my-server --stdio", ["python", [], null, ["program", "my-server", "--stdio"]]],
  ])("%s", (line, expected) => expect(read(line)).toEqual(expected));

  it.each([
    ["npx", "npx with the package"],
    ["npx --registry x y", "no options but"],
    ["npx -y -p", "a package after -p"],
    ["uvx --index-url x y", "no options but"],
    ["python -m a;b", "a module after -m"],
    ["docker run -i image", "cannot run inside a sandbox"],
    ["uv run server.py", "cannot run inside a sandbox"],
  ])("refuses %s", (line, words) => {
    expect(() => read(line)).toThrow(expect.objectContaining({ errorType: "INVALID_REQUEST" }));
    expect(() => read(line)).toThrow(words);
  });
});
