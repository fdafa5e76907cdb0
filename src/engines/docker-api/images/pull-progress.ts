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

/** What engines call the steps of a pull; anything else may be a registry's words. */
const steps =
  /^(?:Pulling (?:fs layer|from)|Waiting|Downloading|Verifying Checksum|Download complete|Extracting|Pull complete|Already exists|Retrying|Copying (?:blob|config)|Getting image source signatures|Writing manifest|Storing signatures|Digest|Status)(?![a-z])/i;
const layerForm = /^[0-9a-f]{12}$/;

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
      status: stepOf(status, id),
      currentBytes: known.length === 0 ? null : known.reduce((sum, each) => sum + each.current, 0),
      totalBytes: known.length === 0 ? null : known.reduce((sum, each) => sum + each.total, 0),
    };
  };
}

/** The step in words of a fixed set, with its layer. */
function stepOf(status: string, layer: string | undefined): string {
  const step = steps.exec(status)?.[0] ?? "Pulling";
  return layer !== undefined && layerForm.test(layer) ? `${layer}: ${step}` : step;
}

/** Why the pull failed, by this line; null when it did not. Some engines tell failures only here. */
export function pullFailure(line: PullLine): string | null {
  return line.errorDetail?.message ?? line.error ?? null;
}
