import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { errorCode } from "../errors/error-code.ts";

/** Windows has none. */
const { O_RDWR, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants> & typeof constants;

/**
 * Creates the file for this user only, or removes others' access to an existing one; SQLite gives the files next to it
 * the same mode.
 * @throws an `Error` when it is a link or no file, and Node's own
 */
export async function makeOwnFile(file: string): Promise<void> {
  try {
    await using handle = await open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    if (!(await handle.stat()).isFile()) throw new Error("What stands at the database's path is not a file.");
    await handle.chmod(0o600);
  } catch (error) {
    if (errorCode(error) === "ELOOP")
      throw new Error("What stands at the database's path is a link.", { cause: error });
    throw error;
  }
}
