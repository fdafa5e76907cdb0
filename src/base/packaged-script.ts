import { readFile } from "node:fs/promises";

/**
 * Text of a file of this package that runs on Linux, such as those in `images`, with the line ends of Linux: a checkout on
 * Windows may have turned them into CRLF, which a shell takes for part of each command.
 */
export async function readPackagedScript(file: URL): Promise<string> {
  return unixLines(await readFile(file, "utf8"));
}

/** The text with LF where it has CRLF. */
export function unixLines(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
