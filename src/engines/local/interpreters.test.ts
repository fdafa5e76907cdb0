import { describe, expect, it } from "vitest";
import { isSystemPath } from "./bubblewrap/host-root.ts";
import { arrangeInterpreters } from "./interpreters.ts";

const homeBuilt = {
  executable: "/home/a/.pyenv/versions/3.12.1/bin/python3.12",
  libraries: ["/home/a/.pyenv/versions/3.12.1/lib/python3.12"],
  sharedLibrary: null,
};

const none = { bun: null, node: null, python: null };

describe("arrangeInterpreters", () => {
  it("shows nothing when the host has nothing", () => {
    expect(arrangeInterpreters(none)).toEqual({ binds: [], links: [], environment: {} });
  });

  it("shows Bun under a neutral path, whatever it is called", () => {
    expect(arrangeInterpreters({ ...none, bun: { file: "/home/a/node_modules/bun/bin/bun.exe" } }).binds).toEqual([
      { source: "/home/a/node_modules/bun/bin/bun.exe", target: "bin/bun" },
    ]);
  });

  it("shows the folder of a Bun that may yet come, and a link to it", () => {
    const { binds, links } = arrangeInterpreters({
      ...none,
      bun: { folder: "/home/a/.local/state/glovebox/bun/1.4.5" },
    });
    expect(binds).toEqual([{ source: "/home/a/.local/state/glovebox/bun/1.4.5", target: "bun" }]);
    expect(links).toEqual([{ name: "bin/bun", target: "/opt/glovebox/bun/bun" }]);
  });

  it("shows Node's executable and nothing beside it, or a link to the system's own", () => {
    const own = arrangeInterpreters({ ...none, node: "/home/a/.nvm/versions/node/v24.21.0/bin/node" });
    expect(own.binds).toEqual([{ source: "/home/a/.nvm/versions/node/v24.21.0/bin/node", target: "bin/node" }]);
    const { binds, links } = arrangeInterpreters({ ...none, node: "/usr/bin/node" });
    expect({ binds, links }).toEqual({ binds: [], links: [{ name: "bin/node", target: "/usr/bin/node" }] });
  });

  it("binds nothing of a Python of the system's, and gives it its usual names", () => {
    const { binds, links } = arrangeInterpreters({
      ...none,
      python: { executable: "/usr/bin/python3.11", libraries: [], sharedLibrary: null },
    });
    expect(binds).toEqual([]);
    expect(links).toEqual([
      { name: "bin/python3", target: "/usr/bin/python3.11" },
      { name: "bin/python", target: "/usr/bin/python3.11" },
    ]);
  });

  it("shows another Python's executable and library where it looks for them, and nothing beside them", () => {
    const { binds, links, environment } = arrangeInterpreters({ ...none, python: homeBuilt });
    expect(binds).toEqual([
      { source: homeBuilt.executable, target: "python/bin/python3.12" },
      { source: homeBuilt.libraries[0], target: "python/lib/python3.12" },
    ]);
    expect(links.map(({ target }) => target)).toEqual(Array(2).fill("/opt/glovebox/python/bin/python3.12"));
    expect(environment).toEqual({});
  });

  it("shows the folder of native modules where it is apart", () => {
    const libraries = ["/opt/py/lib/python3.12", "/opt/py/lib64/python3.12"];
    expect(
      arrangeInterpreters({ ...none, python: { ...homeBuilt, libraries } }).binds.map(({ target }) => target),
    ).toEqual(["python/bin/python3.12", "python/lib/python3.12", "python/lib64/python3.12"]);
  });

  it("shows the shared library that it needs, and where to look for it", () => {
    const sharedLibrary = "/usr/local/lib/libpython3.12.so.1.0";
    const { binds, environment } = arrangeInterpreters({ ...none, python: { ...homeBuilt, sharedLibrary } });
    expect(binds).toContainEqual({ source: sharedLibrary, target: "python/lib/libpython3.12.so.1.0" });
    expect(environment).toEqual({ LD_LIBRARY_PATH: "/opt/glovebox/python/lib" });
  });

  it("leaves a shared library that is part of the system where it is", () => {
    const { binds, environment } = arrangeInterpreters({
      ...none,
      python: { ...homeBuilt, sharedLibrary: "/usr/lib/libpython3.so" },
    });
    expect(binds).toHaveLength(2);
    expect(environment).toEqual({});
  });
});

describe("isSystemPath", () => {
  it.each(["/usr/bin/python3", "/bin/sh", "/lib64/x.so", "/usr/locale/x"])("%s is", (path) => {
    expect(isSystemPath(path)).toBe(true);
  });

  it.each(["/usr/local/bin/python3", "/home/a/usr/bin/x", "/opt/x", "/usrx/y"])("%s is not", (path) => {
    expect(isSystemPath(path)).toBe(false);
  });
});
