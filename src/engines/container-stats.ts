/** Resources that a container has used so far; what its engine cannot tell is null. */
export interface ContainerStats {
  readonly memoryBytes: number | null;
  /** Of the memory, what holds files: those of programs' folders in memory too. */
  readonly memoryCacheBytes: number | null;
  /** What lies in its folders in memory, which are what its programs may write to unless a folder of this machine is. */
  readonly scratchBytes: number | null;
  /** Highest memory use seen by the kernel since the start, page cache included. */
  readonly memoryPeakBytes: number | null;
  /** Processes killed by the kernel for want of memory inside the container's limit. */
  readonly oomKills: number | null;
  /** CPU time of all its programs since the start, in milliseconds. */
  readonly cpuTimeMs: number | null;
  /** Bytes that its programs have read from block devices; what the page cache answered is not among them. */
  readonly diskReadBytes: number | null;
  /** Bytes that its programs have written to block devices; with control groups of version 1 only unbuffered writes count. */
  readonly diskWriteBytes: number | null;
}

/** Of a container that cannot be asked. */
export const unknownStats: ContainerStats = {
  memoryBytes: null,
  memoryCacheBytes: null,
  scratchBytes: null,
  memoryPeakBytes: null,
  oomKills: null,
  cpuTimeMs: null,
  diskReadBytes: null,
  diskWriteBytes: null,
};
