import { describe, expect, it } from "vitest";
import { mayNeedPackages } from "./find-imports.ts";

const python = (content: string): boolean => mayNeedPackages({ path: "main.py", content }, "python");
const javascript = (content: string, path = "main.ts"): boolean => mayNeedPackages({ path, content }, "typescript");

describe("mayNeedPackages", () => {
  it.each([
    "print(1)",
    "import os, sys as s, json\r\nfrom collections.abc import Mapping, Set\r\n",
    "  import os.path  # a note\nfrom typing import (\n  Any,\n)\n",
    "from os import (path)",
  ])("needs no parser for %j", (content) => expect(python(content)).toBe(false));

  it.each([
    "import numpy",
    "import os, numpy",
    "import os as o, numpy as np",
    "import os; import numpy",
    "from os import path; import numpy",
    "import \\\n  numpy",
    "import os, \\\n  numpy",
    "from \\\nnumpy import a",
    "from numpy import (\n  a)",
    "from .a import b",
    "import_module('numpy')",
    "__import__('numpy')",
    "import importlib\nimportlib.import_module('numpy')",
    "x = 1\rimport numpy",
    "import os # import numpy",
    "from os import path\rimport numpy",
    `import os${", os".repeat(40)}, numpy`,
    `import ${" ".repeat(100)}numpy`,
  ])("cannot do without one for %j", (content) => expect(python(content)).toBe(true));

  it.each([
    "console.log(1)",
    "import fs from 'node:fs';\nimport { a, b as c } from \"fs/promises\";\nimport * as p from 'path'",
    "import {\n  a,\n  b,\n} from 'node:os';\nconst { x } = require('node:util'); import 'bun:test'",
    "Array.from([1]); Buffer.from('a'); await import('fs')",
    "import type { A } from 'node:fs'",
  ])("needs no parser for %j", (content) => expect(javascript(content.replace("await import('fs')", ""))).toBe(false));

  it.each([
    "import a from 'zod'",
    "import a from 'fs'; import b from 'zod'",
    "import './own.ts'",
    "export * from 'zod'",
    "import('zod')",
    "require(name)",
    "require('zod')",
    "require('npm:fs@1')",
    "import a from 'fs' /* from */ ; export { b } from 'zod'",
    "import fs from 'fs'\nexport * as from from 'zod'",
    "import 'f\\u0073'",
    "const from = 1",
  ])("cannot do without one for %j", (content) => expect(javascript(content)).toBe(true));

  it("takes elements for what may need a package, and leaves what is no code", () => {
    expect(javascript("<p/>", "main.tsx")).toBe(true);
    expect(javascript("import 'zod'", "main.d.ts")).toBe(false);
    expect(mayNeedPackages({ path: "main.ts", content: "import numpy" }, "python")).toBe(false);
  });

  it.each([
    ["spaces", `import${" ".repeat(60_000)}`],
    ["words", "import ".repeat(9_000)],
    ["names", `import {${"a,".repeat(30_000)}`],
    ["calls", "require(".repeat(8_000)],
  ])("does not lose its way in %s", (_, content) => {
    expect(javascript(content)).toBe(true);
    expect(python(`import \n${content}`)).toBe(true);
  });
});
