import { access, readFile } from "node:fs/promises";

/** The files that an engine's own client keeps. */
export interface FileReader {
  /** Text of the file; null when it is missing. */
  read(path: string): Promise<string | null>;
  exists(path: string): Promise<boolean>;
}

/** Those on the disk. */
export const clientFiles: FileReader = {
  read: async (path) => {
    try {
      return await readFile(path, "utf8");
    } catch {
      // Whether a file of another program is missing or unreadable makes no difference: there is no setting.
      return null;
    }
  },
  exists: (path) =>
    access(path).then(
      () => true,
      () => false,
    ),
};
