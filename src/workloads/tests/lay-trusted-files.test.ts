import { expect, it } from "vitest";
import { plantedBeside } from "./test-phase.ts";

it("configuration beside trusted files goes, and above them, but none of the files themselves", () => {
  const paths = plantedBeside(["tests/unit/test_a.py", "tests/conftest.py"]);
  for (const path of [
    "conftest.py",
    "pytest.py",
    "tests/unit/conftest.py",
    "tests/pytest.ini",
    "tests/unit/vitest.config.ts",
    "jest.config.js",
    "babel.config.js",
    "unittest/__init__.py",
    ".npmrc",
  ])
    expect(paths).toContain(path);
  expect(paths).not.toContain("tests/conftest.py");
  expect(paths.some((path) => path.startsWith("src/"))).toBe(false);
  expect(plantedBeside([])).toEqual([]);
});

it("a folder of trusted files is never removed for its name", () => {
  expect(plantedBeside(["pytest/test_a.py"])).not.toContain("pytest");
});
