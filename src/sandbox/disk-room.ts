import { statfs } from "node:fs/promises";
import { gibibyte } from "../base/bytes.ts";

/** How much fits on a file system. */
export interface Room {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** What stays free on this machine, whoever has taken the rest. */
const reserve = { share: 0.05, maxBytes: 2 * gibibyte };

/** Of the file system of a folder, as far as this user may use it. */
export async function readRoom(folder: string): Promise<Room> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** Bytes that stay free: 2 GiB, on small file systems 5 % of them. */
export function reserveOf({ totalBytes }: Pick<Room, "totalBytes">): number {
  return Math.min(reserve.maxBytes, totalBytes * reserve.share);
}
