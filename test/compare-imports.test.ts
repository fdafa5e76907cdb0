import { afterAll, describe, expect, it } from "vitest";
import { compare } from "../scripts/imports/compare-map.ts";
import { readWheel } from "../scripts/imports/read-wheel.ts";
import { brings, importRoots, modulesOf } from "../scripts/imports/wheel-modules.ts";
import { PackageRegistry } from "./helpers/package-registry.ts";

const info = "x-1.dist-info/RECORD";

describe("the modules of a wheel", () => {
  it.each([
    [
      ["yaml/__init__.py", "yaml/_yaml.cpython-312-x86_64-linux-gnu.so", info],
      ["yaml", "yaml._yaml"],
    ],
    [
      ["six.py", "x-1.data/scripts/six.py", "x-1.data/purelib/seven.py"],
      ["six", "seven"],
    ],
    [["google/cloud/storage/__init__.py"], ["google.cloud.storage"]],
    [["tables-names/x.py", "readme.md", "a/b.txt"], []],
  ])("are those of its files: %j", (files, modules) => {
    expect([...modulesOf(files).modules]).toEqual(modules);
  });

  it("are known by their roots below shared namespaces, without what was packed by mistake", () => {
    const files = ["google/__init__.py", "google/cloud/storage/__init__.py", "google/cloud/storage/blob.py"];
    const wheel = modulesOf([...files, "plain/a.py", "plain/b.py", "tests/__init__.py", "_private.py", "top.pyd"]);
    const roots = importRoots(wheel, (module) => ["google", "google.cloud"].includes(module));
    expect(roots).toEqual(["google.cloud.storage", "plain.a", "plain.b", "top"]);
    expect(brings(wheel, "plain") && brings(wheel, "google.cloud")).toBe(true);
    expect(brings(wheel, "storage")).toBe(false);
  });

  it("are also at the top where the wheel extends the path", () => {
    expect(brings(modulesOf(["a.pth", "win32/lib/winerror.py"]), "winerror")).toBe(true);
    expect(brings(modulesOf(["win32/lib/winerror.py"]), "winerror")).toBe(false);
  });
});

describe("the map of imports", () => {
  it("is compared with a wheel: what it lacks, and what is not said to be its own", () => {
    const files = ["yaml/__init__.py", "spam/__init__.py"];
    expect(compare("PyYAML", ["yaml", "_yaml"], files)).toEqual({
      lacks: ["_yaml"],
      unmapped: ["spam (said to be spam)"],
    });
    expect(compare("setuptools<82", ["pkg_resources"], ["pkg_resources/__init__.py"])).toEqual({
      lacks: [],
      unmapped: [],
    });
    const versions = ["google/cloud/osconfig_v1/__init__.py"];
    expect(compare("google-cloud-os-config", ["google.cloud.osconfig"], versions).lacks).toEqual([]);
  });
});

describe("a wheel of this machine's index", { timeout: 120_000 }, () => {
  const registry = PackageRegistry.start("127.0.0.1");
  afterAll(async () => (await registry)[Symbol.dispose]());

  it("is found by pip and listed, and one that must be built is unknown", async () => {
    const index = await registry;
    index.addWheel({ name: "spam_eggs", version: "1.0", files: { "spam/__init__.py": "", "spam/ham.py": "" } });
    index.addSource({ name: "built", version: "1.0", files: { "setup.py": "" } });
    const listing = await readWheel("spam-eggs");
    expect("files" in listing && [...modulesOf(listing.files).modules]).toEqual(["spam", "spam.ham"]);
    expect(await readWheel("built")).toEqual({ unknown: expect.stringMatching(/^no wheel: /) as string });
    expect(index.requests.some((request) => request.includes("/files/built"))).toBe(false);
  });
});
