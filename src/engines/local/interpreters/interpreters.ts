import { basename, dirname } from "node:path";
import { isSystemPath } from "../bubblewrap/namespaces/host-root.ts";
import type { BunSource } from "./host-bun.ts";
import type { PythonInstallation } from "./python-installation.ts";

/** Interpreters that are not part of the host's system, as they appear under /opt/glovebox, and how to use them. */
export interface Interpreters {
  /** Host paths, each with where it appears. */
  readonly binds: readonly { readonly source: string; readonly target: string }[];
  /** Symbolic links, each with its target as seen inside. */
  readonly links: readonly { readonly name: string; readonly target: string }[];
  /** Variables that they need. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Where a Bun that may not be there yet appears under /opt/glovebox: its folder. */
const bunFolder = "bun";

/**
 * Shows Bun as `bun` and Python as `python3` and `python`, at neutral paths: no home folder can be seen inside.
 * Of a Python that is not the system's only its standard library (with its site-packages) and its executable appear.
 */
export function arrangeInterpreters(found: BunSource | null, python: PythonInstallation | null): Interpreters {
  const { binds: bun, links } = arrangeBun(found);
  if (python === null) return { binds: bun, links, environment: {} };
  if (isSystemPath(python.executable)) {
    return { binds: bun, links: [...links, ...pythonLinks(python.executable)], environment: {} };
  }
  const name = basename(python.executable);
  const shared = python.sharedLibrary;
  const isOurs = shared !== null && !isSystemPath(shared);
  return {
    binds: [
      ...bun,
      { source: python.executable, target: `python/bin/${name}` },
      ...python.libraries.map((source) => ({ source, target: `python/${libraryFolder(source)}` })),
      ...(isOurs ? [{ source: shared, target: `python/lib/${basename(shared)}` }] : []),
    ],
    links: [...links, ...pythonLinks(`/opt/glovebox/python/bin/${name}`)],
    environment: isOurs ? { LD_LIBRARY_PATH: "/opt/glovebox/python/lib" } : {},
  };
}

function arrangeBun(found: BunSource | null): Pick<Interpreters, "binds" | "links"> {
  if (found === null) return { binds: [], links: [] };
  if ("file" in found) return { binds: [{ source: found.file, target: "bin/bun" }], links: [] };
  return {
    binds: [{ source: found.folder, target: bunFolder }],
    links: [{ name: "bin/bun", target: `/opt/glovebox/${bunFolder}/bun` }],
  };
}

function pythonLinks(target: string): Interpreters["links"] {
  return ["bin/python3", "bin/python"].map((name) => ({ name, target }));
}

/** `lib/python3.11` or `lib64/python3.11`: where Python looks, seen from its executable. */
function libraryFolder(source: string): string {
  return `${basename(dirname(source))}/${basename(source)}`;
}
