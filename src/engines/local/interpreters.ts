import { basename, dirname } from "node:path";
import { isSystemPath } from "./bubblewrap/host-root.ts";
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

const nothing: Interpreters = { binds: [], links: [], environment: {} };

/** Where a Bun that may not be there yet appears under /opt/glovebox: its folder. */
const bunFolder = "bun";

/** The host's interpreters that sandboxes see; null for those it does not have. */
export interface FoundInterpreters {
  readonly bun: BunSource | null;
  /** Real path of Node's executable. */
  readonly node: string | null;
  readonly python: PythonInstallation | null;
}

/**
 * Shows Bun as `bun`, Node as `node` and Python as `python3` and `python`, at neutral paths: no home folder can be seen
 * inside. Of a Python that is not the system's only its standard library (with its site-packages) and its executable appear.
 */
export function arrangeInterpreters({ bun, node, python }: FoundInterpreters): Interpreters {
  const parts = [arrangeBun(bun), arrangeNode(node), arrangePython(python)];
  return {
    binds: parts.flatMap(({ binds }) => binds),
    links: parts.flatMap(({ links }) => links),
    environment: Object.assign({}, ...parts.map(({ environment }) => environment)) as Interpreters["environment"],
  };
}

function arrangePython(python: PythonInstallation | null): Interpreters {
  if (python === null) return nothing;
  if (isSystemPath(python.executable)) return { ...nothing, links: pythonLinks(python.executable) };
  const name = basename(python.executable);
  const shared = python.sharedLibrary;
  const isOurs = shared !== null && !isSystemPath(shared);
  return {
    binds: [
      { source: python.executable, target: `python/bin/${name}` },
      ...python.libraries.map((source) => ({ source, target: `python/${libraryFolder(source)}` })),
      ...(isOurs ? [{ source: shared, target: `python/lib/${basename(shared)}` }] : []),
    ],
    links: pythonLinks(`/opt/glovebox/python/bin/${name}`),
    environment: isOurs ? { LD_LIBRARY_PATH: "/opt/glovebox/python/lib" } : {},
  };
}

/** Only the executable: nothing beside it, npm included. */
function arrangeNode(executable: string | null): Interpreters {
  if (executable === null) return nothing;
  if (isSystemPath(executable)) return { ...nothing, links: [{ name: "bin/node", target: executable }] };
  return { ...nothing, binds: [{ source: executable, target: "bin/node" }] };
}

function arrangeBun(found: BunSource | null): Interpreters {
  if (found === null) return nothing;
  if ("file" in found) return { ...nothing, binds: [{ source: found.file, target: "bin/bun" }] };
  return {
    ...nothing,
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
