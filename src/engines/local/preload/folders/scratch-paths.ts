import { posix } from "node:path";

/** Where a container's folders really are. */
export interface ScratchPaths {
  /** Paths inside of the writable folders, each with its real one. */
  readonly places: ReadonlyMap<string, string>;
  /** The same of the folders that can be read only. */
  readonly readOnly: ReadonlyMap<string, string>;
  /** The real path of a path inside; a path in no folder of the container stays as it is. */
  readonly folderOf: (path: string) => string;
}

/** Paths inside. */
export interface FolderPaths {
  readonly scratch: readonly string[];
  readonly readOnly: readonly string[];
}

/**
 * Lays the folders out below `root`, beside one another as they are inside, so that imports find packages by the rules of
 * their language; `join` is the platform's.
 */
export function scratchPaths(
  { scratch, readOnly: fixed }: FolderPaths,
  root: string,
  join: (...parts: string[]) => string,
): ScratchPaths {
  const layOut = (paths: readonly string[]): ReadonlyMap<string, string> =>
    new Map(paths.map((path) => [path, join(root, ...partsOf(path))]));
  const places = layOut(scratch);
  const readOnly = layOut(fixed);
  const folderOf = (path: string): string => {
    const normal = posix.normalize(path);
    const [innermost] = [...places, ...readOnly]
      .filter(([folder]) => normal === folder || normal.startsWith(`${folder}/`))
      .toSorted(([a], [b]) => b.length - a.length);
    if (innermost === undefined) return path;
    const [folder, place] = innermost;
    return join(place, ...partsOf(normal.slice(folder.length)));
  };
  return { places, readOnly, folderOf };
}

function partsOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "");
}
