import { closeSync, openSync } from "node:fs";

/** Descriptors that name three pipes without opening them: stdin, stdout, stderr. */
export interface PipeSet {
  readonly stdin: number;
  readonly stdout: number;
  readonly stderr: number;
}

/** Flag of open(2) for a descriptor that only names a file; Node has no name for it. */
export const openPathOnly = 0o10000000;

const setsInABatch = 16;
const names = Array.from({ length: setsInABatch * 3 }, (_, index) => String(index));

/** Lines of a shell that make a batch in a file system of its own; `folder` is a word of theirs. */
export function makePipes(folder: string): string {
  return `mount -n -t tmpfs -o nosuid,nodev,noexec,size=4k,nr_inodes=64,mode=700 glovebox ${folder}
(cd ${folder} && mkfifo -m 666 -- ${names.join(" ")})`;
}

/** @throws Error when one is missing; then none is open */
export function openPipes(folder: string): readonly PipeSet[] {
  const open: number[] = [];
  try {
    for (const name of names) open.push(openSync(`${folder}/${name}`, openPathOnly));
  } catch (error) {
    open.forEach((descriptor) => closeSync(descriptor));
    throw error;
  }
  const at = (index: number): number => open[index] as number;
  return Array.from({ length: setsInABatch }, (_, set) => ({
    stdin: at(set * 3),
    stdout: at(set * 3 + 1),
    stderr: at(set * 3 + 2),
  }));
}

/** Releases the names of the pipes; open ends stay open. */
export function closePipeSet({ stdin, stdout, stderr }: PipeSet): void {
  for (const descriptor of [stdin, stdout, stderr]) closeSync(descriptor);
}
