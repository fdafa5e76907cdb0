/**
 * Folders and files that have a row in docs/architecture.md's table of folders, in its order: those in the first column, and
 * those in a row's other columns that end in a slash, which are in the row's first folder.
 */
export function readFolderTable(text: string): readonly string[] {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.startsWith("| folder |"));
  const rows = lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith("|"));
  return rows.slice(0, end).flatMap((row) => {
    const [, first = "", ...others] = row.split("|");
    const names = quoted(first);
    const folder = names[0]?.replace(/\/\*\*$/, "") ?? "";
    const below = quoted(others.join("|")).filter((name) => name.endsWith("/"));
    return [...names, ...below.map((name) => `${folder}/${name.slice(0, -1)}`)];
  });
}

/** Names in backticks. */
function quoted(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

/** The folders in the table, and the folders that exist. */
export interface FolderFacts {
  readonly table: readonly string[];
  /** Folders that directly contain sources. */
  readonly folders: readonly string[];
  /** Whether there is a file or folder of that name. */
  readonly exists: (path: string) => boolean;
}

/**
 * What is wrong with the table: a row for something that does not exist, a duplicate row, or a folder with sources but
 * without a row. A row whose name ends in `/**` also covers everything below it.
 */
export function folderProblems({ table, folders, exists }: FolderFacts): readonly string[] {
  const whole = table.filter((name) => name.endsWith("/**")).map((name) => name.slice(0, -2));
  const names = table.map((name) => name.replace(/\/\*\*$/, ""));
  const isTold = (folder: string): boolean =>
    names.includes(folder) || whole.some((parent) => folder.startsWith(parent));
  return [
    ...names.filter((name) => !exists(name)).map((name) => `${name} has a row and does not exist`),
    ...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `${name} has two rows`),
    ...folders.filter((folder) => !isTold(folder)).map((folder) => `${folder} has no row`),
  ];
}
