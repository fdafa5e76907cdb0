import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { mebibyte } from "../../base/bytes.ts";

/** Far above what certificates, tokens and whole configurations have. */
export const maxConfigBytes = 4 * mebibyte;

/** The text of a file of the configuration; a pipe that nobody writes to is empty. @throws Error for a longer one, and as `open` */
export async function readConfigText(file: string): Promise<string> {
  await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  const chunks: Buffer[] = [];
  for (let bytes = 0; ;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(65_536));
    if (bytesRead === 0) return Buffer.concat(chunks).toString("utf8");
    bytes += bytesRead;
    if (bytes > maxConfigBytes) throw new Error(`it has more than ${maxConfigBytes} bytes`);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}
