import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ecosystem } from "../policy/install-policy.ts";
import { PackageView, type ViewedSet } from "./package-view.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "glovebox-view-"));
  await mkdir(path.join(root, "views"));
});
afterEach(() => rm(root, { recursive: true }));

async function setOf(
  ecosystem: Ecosystem,
  versions: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): Promise<ViewedSet> {
  const folder = await mkdtemp(path.join(root, "set-"));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.join(folder, path.dirname(name)), { recursive: true });
    await writeFile(path.join(folder, name), text, { mode: 0o444 });
  }
  return { ecosystem, folder, packages: Object.entries(versions).map(([name, version]) => ({ name, version })) };
}

const open = (): Promise<PackageView> => PackageView.open(path.join(root, "views"));

describe("PackageView", () => {
  it("links packages side by side, as the same files, and those of a scope", async () => {
    await using view = await open();
    const one = await setOf("npm", { a: "1", "@s/a": "1" }, { "a/deep/x.js": "a", "@s/a/x.js": "s" });
    expect(await view.add(one)).not.toBeNull();
    expect(await view.add(await setOf("npm", { "@s/b": "1" }, { "@s/b/x.js": "b" }))).toBe("@s/b");
    const npm = view.folderOf("npm");
    expect((await readdir(npm, { recursive: true })).filter((name) => name.endsWith(".js")).toSorted()).toEqual([
      "@s/a/x.js",
      "@s/b/x.js",
      "a/deep/x.js",
    ]);
    expect((await stat(path.join(npm, "a/deep/x.js"))).ino).toBe(
      (await stat(path.join(one.folder, "a/deep/x.js"))).ino,
    );
    expect((await lstat(path.join(npm, "a"))).mode & 0o777).toBe(0o755);
    expect(await view.add(one)).toBeNull();
  });

  it("never changes what is there", async () => {
    await using view = await open();
    await view.add(await setOf("npm", { a: "1" }, { "a/x.js": "mine" }));
    const evil = await setOf("npm", { evil: "1" }, { "evil/x.js": "", "a/x.js": "planted", "a/new.js": "planted" });
    expect(view.accepts(evil)).toBe(true);
    await view.add(evil);
    expect(await readdir(path.join(view.folderOf("npm"), "a"))).toEqual(["x.js"]);
    expect(view.accepts(await setOf("npm", { a: "2" }, {}))).toBe(false);
    expect(view.accepts(await setOf("python", { a: "2" }, {}))).toBe(true);

    await view.add(await setOf("python", { m: "1" }, { "lib/m/__init__.py": "mine", "lib/one.py": "mine" }));
    const planted = { "lib/m/__init__.py": "planted", "lib/one.py": "planted", "start/sitecustomize.py": "planted" };
    expect(await view.add(await setOf("python", { n: "1" }, { ...planted, "lib/m/n.py": "n" }))).toBe("lib/m/n.py");
    const python = view.folderOf("python");
    expect(await readFile(path.join(python, "lib/m/__init__.py"), "utf8")).toBe("mine");
    expect(await readFile(path.join(python, "lib/one.py"), "utf8")).toBe("mine");
    expect(await readFile(path.join(python, "start/sitecustomize.py"), "utf8")).not.toContain("planted");
  });

  it("goes with its holder: at once, or when its process has died", async () => {
    const views = path.join(root, "views");
    await (await open())[Symbol.asyncDispose]();
    expect(await readdir(views)).toEqual([]);
    await using live = await open();
    const source = `import(${JSON.stringify(new URL("package-view.ts", import.meta.url).href)})
      .then(({ PackageView }) => PackageView.open(${JSON.stringify(views)})).then(() => process.send("open")); setInterval(() => {}, 1e6);`;
    const child = spawn(process.execPath, ["-e", source], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
    await once(child, "message");
    const both = await readdir(views);
    expect(both.filter((name) => name.endsWith(".lock"))).toHaveLength(2);
    await PackageView.sweep(views);
    expect(await readdir(views)).toEqual(both);
    child.kill("SIGKILL");
    await once(child, "exit");
    await PackageView.sweep(views);
    const id = path.basename(path.dirname(live.folderOf("npm")));
    expect((await readdir(views)).every((name) => name.startsWith(id))).toBe(true);
  });
});
