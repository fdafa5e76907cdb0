import { describe, expect, it } from "vitest";
import { readFileLayer, type FileOptions } from "./file-layer.ts";

function read(
  files: Record<string, string | Error>,
  options: Partial<FileOptions> = {},
): ReturnType<typeof readFileLayer> {
  const readFile = async (path: string): Promise<string> => {
    const content = files[path] ?? Object.assign(new Error(`no ${path}`), { code: "ENOENT" });
    if (content instanceof Error) throw content;
    return content;
  };
  return readFileLayer({ environment: {}, homeDirectory: "/home/ann", readFile, ...options });
}

const all = {
  "/flag.json": '{"from": "flag"}',
  "/named.json": '{"from": "variable"}',
  "/xdg/glovebox/config.json": '{"from": "xdg"}',
  "/home/ann/.config/glovebox/config.json": '{"from": "home"}',
};
const everywhere = { GLOVEBOX_CONFIG: "/named.json", XDG_CONFIG_HOME: "/xdg" };

describe("readFileLayer", () => {
  it.each([
    ["flag", { file: "/flag.json", environment: everywhere }],
    ["variable", { environment: everywhere }],
    ["xdg", { environment: { GLOVEBOX_CONFIG: "", XDG_CONFIG_HOME: "/xdg" } }],
    ["home", {}],
    ["home", { environment: { XDG_CONFIG_HOME: "" } }],
    ["home", { environment: { XDG_CONFIG_HOME: "relative" } }],
  ])("reads the file named by %s (%j)", async (from, options) => {
    expect((await read(all, options))?.content).toEqual({ from });
  });

  it("does without a default file, also when its folder is no folder", async () => {
    expect(await read({})).toBeNull();
    const notFolder = Object.assign(new Error("no folder"), { code: "ENOTDIR" });
    expect(await read({ "/home/ann/.config/glovebox/config.json": notFolder })).toBeNull();
  });

  it.each([
    [{ file: "/absent.json" }, "The configuration file given by --config does not exist."],
    [
      { environment: { GLOVEBOX_CONFIG: "/absent.json" } },
      "The configuration file given by GLOVEBOX_CONFIG does not exist.",
    ],
  ])("refuses a named file that is missing, without its path: %j", async (options, message) => {
    await expect(read({}, options)).rejects.toEqual(expect.objectContaining({ errorType: "INVALID_REQUEST", message }));
  });

  it("refuses one that cannot be read, the default one too", async () => {
    const denied = Object.assign(new Error("EACCES: /home/ann"), { code: "EACCES" });
    await expect(read({ "/home/ann/.config/glovebox/config.json": denied })).rejects.toEqual(
      expect.objectContaining({ message: "The default configuration file cannot be read (EACCES).", cause: denied }),
    );
  });

  it("reads a file with a byte order mark and CRLF", async () => {
    const layer = await read({ "/flag.json": '\ufeff{\r\n"a": 1\r\n}\r\n' }, { file: "/flag.json" });
    expect(layer?.content).toEqual({ a: 1 });
  });

  it("names line and column of what is not JSON and quotes nothing of it", async () => {
    const attempt = read({ "/flag.json": '{\n  "token": hunter2\n}' }, { file: "/flag.json" });
    await expect(attempt).rejects.toEqual(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        message: "The configuration file given by --config is not JSON: error at line 2, column 12.",
        context: { line: 2, column: 12 },
      }),
    );
    await expect(attempt).rejects.not.toThrow(/hunter2/);
  });
});
