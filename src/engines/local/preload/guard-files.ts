import { readPackagedScript } from "../../../base/packaged-script.ts";

/** Where each guard stands in a container's guard folder, and the parts of its text in this package's `images/preloads`. */
export const guardFiles = {
  python: {
    folder: "python",
    name: "guard.py",
    parts: ["refusals.py", "paths.py", "files.py", "descriptors.py", "events.py", "unaudited.py", "start.py"],
  },
  node: { folder: "node", name: "preload.cjs", parts: ["preload.cjs"] },
} as const;

/**
 * Python finds it by its name; it gives the guard a name of its own, which tracebacks of refusals show in place of a
 * path. Python would report an error of it and go on without a guard.
 */
const pythonStarter: GuardText = {
  folder: guardFiles.python.folder,
  name: "sitecustomize.py",
  text: `try:
    with open(__file__.rpartition("sitecustomize")[0] + "${guardFiles.python.name}", encoding="utf-8") as _guard:
        _guard = compile(_guard.read(), "<glovebox>", "exec")
except BaseException as _error:
    import os
    os.write(2, ("glovebox preload: %r\\n" % _error).encode("utf-8", "replace"))
    os._exit(125)
exec(_guard)
`,
};

/** A guard's text and its place below the guard folder. */
export interface GuardText {
  readonly folder: string;
  readonly name: string;
  readonly text: string;
}

/** The guards' texts. */
export async function readGuards(): Promise<readonly GuardText[]> {
  const guards = Object.values(guardFiles).map(async ({ folder, name, parts }) => {
    const source = new URL(`../../../../images/preloads/${folder}/`, import.meta.url);
    const texts = await Promise.all(parts.map((part) => readPackagedScript(new URL(part, source))));
    return { folder, name, text: texts.join("\n") };
  });
  return [pythonStarter, ...(await Promise.all(guards))];
}
