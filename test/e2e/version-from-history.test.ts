import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { pythonIndex } from "../helpers/python-index.ts";
import { sessionImages } from "../helpers/test-images.ts";

const index = pythonIndex();
const folder = mkdtempSync(path.join(tmpdir(), "glovebox-history-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const named = '[project]\nname = "from-history"\ndynamic = ["version"]\n';
const hatch = (needs: string, rest: string): string =>
  `[build-system]\nrequires = ["hatchling", "${needs}"]\nbuild-backend = "hatchling.build"\n${named}[tool.hatch.build.targets.wheel]\npackages = ["from_history"]\n${rest}`;
const setuptools = (needs: string, rest = ""): string =>
  `[build-system]\nrequires = ["setuptools", "${needs}"]\nbuild-backend = "setuptools.build_meta"\n${named}[tool.setuptools]\npackages = ["from_history"]\n${rest}`;

/** Projects as people write them, by the tool that takes their version from git. */
const projects: Readonly<Record<string, string>> = {
  "setuptools-scm": setuptools("setuptools_scm>=8", "[tool.setuptools_scm]\n"),
  "hatch-vcs": hatch("hatch-vcs", '[tool.hatch.version]\nsource = "vcs"\n'),
  versioningit: setuptools("versioningit", "[tool.versioningit]\n"),
  "uv-dynamic-versioning": hatch("uv-dynamic-versioning", '[tool.hatch.version]\nsource = "uv-dynamic-versioning"\n'),
  "pdm-backend": `[build-system]\nrequires = ["pdm-backend"]\nbuild-backend = "pdm.backend"\n${named}[tool.pdm.version]\nsource = "scm"\n`,
  "poetry-dynamic-versioning": `[build-system]\nrequires = ["poetry-core", "poetry-dynamic-versioning"]\nbuild-backend = "poetry_dynamic_versioning.backend"\n[tool.poetry]\nname = "from-history"\nversion = "0"\ndescription = ""\nauthors = []\n[tool.poetry-dynamic-versioning]\nenable = true\n`,
};

describe("a version that comes from git's history on docker", () => {
  const glovebox = useGlovebox("docker", {
    workingDirectory: folder,
    settings: { images: sessionImages, network: { private_hosts: [...index.fileHosts] } },
  });

  const test = async (name: string, pyproject: string): Promise<{ readonly output: string; readonly told: string }> => {
    const place = path.join(folder, name);
    mkdirSync(path.join(place, "from_history"), { recursive: true });
    writeFileSync(path.join(place, "from_history", "__init__.py"), "");
    writeFileSync(path.join(place, "pyproject.toml"), pyproject);
    const command = "python3 -c 'from importlib.metadata import version; print(version(\"from-history\"))'";
    const { output, warnings } = await glovebox().test({ project_path: place, test_command: command });
    return { output, told: warnings.join("\n") };
  };

  it.for(Object.entries(projects))(
    "does not fail the installation, which says so: %s",
    async ([tool, text], context) => {
      if (index.fault !== null) context.skip(index.fault);
      const { output, told } = await test(tool, text);
      expect(output, told).toBe("0.0.0\n");
      expect(told).toContain(
        `The project's version comes from git's history (${tool}), which its installation here does not read. Its version here is 0.0.0, not its real one.`,
      );
    },
  );

  it("is the project's own where it sets one for that, and a version that is written down is the real one", async (context) => {
    if (index.fault !== null) context.skip(index.fault);
    const own = setuptools("setuptools_scm>=8", '[tool.setuptools_scm]\nfallback_version = "1.2.3"\n');
    const { output, told } = await test("own", own);
    expect(output, told).toBe("1.2.3\n");
    expect(told).toContain("Its version here is the version that the project sets for that, not its real one.");
    const written = setuptools("wheel").replace('dynamic = ["version"]', 'version = "4.5.6"');
    const plain = await test("written", written);
    expect(plain.output, plain.told).toBe("4.5.6\n");
    expect(plain.told).not.toContain("history");
  });
});
