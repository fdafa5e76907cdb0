import type { ContainerState } from "../../engine.ts";

/** Statuses before the start; Podman prepares a container when something attaches to it. */
const notStarted: ReadonlySet<string> = new Set(["created", "initialized"]);

/** The part of a container's inspection that is read. */
export interface InspectAnswer {
  readonly State?: {
    readonly Status?: string;
    readonly Running?: boolean;
    readonly ExitCode?: number;
    readonly OOMKilled?: boolean;
    /** Of the first process, on the engine's machine; 0 without one. */
    readonly Pid?: number;
  };
}

/** A container's state from its inspection. */
export function containerState({ State: state = {} }: InspectAnswer): ContainerState {
  const running = state.Running === true;
  // A container whose program could not be started stays `created`, with an exit code.
  const ended = !running && (!notStarted.has(state.Status ?? "") || (state.ExitCode ?? 0) !== 0);
  return { running, exitCode: ended ? (state.ExitCode ?? null) : null, oomKilled: state.OOMKilled ?? null };
}
