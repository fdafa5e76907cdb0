import { execFileSync } from "node:child_process";

/** Removes a container behind Glovebox's back, at once: Podman would let its program end by itself for ten seconds. */
export function removeContainer(engine: string, container: string): void {
  const atOnce = engine === "podman" ? ["--time", "0"] : [];
  execFileSync(engine, ["rm", "--force", ...atOnce, container], { stdio: "ignore" });
}
