import type { PullProgress } from "../../engine.ts";

/** One line of a pull's answer. */
export interface PullLine {
  readonly status?: string;
  /** The layer. */
  readonly id?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number } | null;
  readonly error?: string;
  readonly errorDetail?: { readonly message?: string } | null;
}

/** Adds up the layers of a pull: fed each line, gives the sums so far. Unpacking counts no bytes a second time. */
export function createPullProgress(): (line: PullLine) => PullProgress {
  const layers = new Map<string, { current: number; total: number }>();
  return (line) => {
    const { status = "", id, progressDetail } = line;
    if (id !== undefined && status === "Downloading" && progressDetail?.total !== undefined) {
      layers.set(id, { current: progressDetail.current ?? 0, total: progressDetail.total });
    }
    const layer = id === undefined ? undefined : layers.get(id);
    if (layer !== undefined && /^(?:Download complete|Pull complete|Extracting|Verifying Checksum)$/.test(status)) {
      layer.current = layer.total;
    }
    const known = [...layers.values()];
    return {
      status: id === undefined ? status : `${id}: ${status}`,
      currentBytes: known.length === 0 ? null : known.reduce((sum, each) => sum + each.current, 0),
      totalBytes: known.length === 0 ? null : known.reduce((sum, each) => sum + each.total, 0),
    };
  };
}

/** Why the pull failed, by this line; null when it did not. Some engines tell failures only here. */
export function pullFailure(line: PullLine): string | null {
  return line.errorDetail?.message ?? line.error ?? null;
}
