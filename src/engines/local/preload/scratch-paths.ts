import { posix } from "node:path";

/** Where a container's folders really are. */
export interface ScratchPaths {
  /** Paths inside, each with its real one. */
  readonly places: ReadonlyMap<string, string>;
  /** The real path of a path inside; what lies in no folder of the container's is as it is. */
  readonly folderOf: (path: string) => string;
}

/** Lays the scratch folders out below `root`; `join` is the platform's. */
export function scratchPaths(
  scratch: readonly { readonly path: string }[],
  root: string,
  join: (...parts: string[]) => string,
): ScratchPaths {
  const places = new Map(scratch.map(({ path }) => [path, join(root, ...partsOf(path))]));
  const folderOf = (path: string): string => {
    const normal = posix.normalize(path);
    const [innermost] = [...places]
      .filter(([folder]) => normal === folder || normal.startsWith(`${folder}/`))
      .toSorted(([a], [b]) => b.length - a.length);
    if (innermost === undefined) return path;
    const [folder, place] = innermost;
    return join(place, ...partsOf(normal.slice(folder.length)));
  };
  return { places, folderOf };
}

function partsOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "");
}
