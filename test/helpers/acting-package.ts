/**
 * A Python package that does what /work/act.py says when it is imported; `ahead` says whether that was before the program's
 * own code.
 */
export const actingPackage = {
  name: "gb_acting",
  version: "1.0",
  files: {
    "gb_acting/__init__.py": `import os, sys
state = []
ahead = not hasattr(sys.modules["__main__"], "__file__")
if os.path.exists("/work/act.py"):
    with open("/work/act.py") as file:
        exec(file.read())
`,
  },
} as const;
