import { existsSync } from "node:fs";
import { bunTarget, type BunTarget } from "./bun-packages.ts";

/** Whether programs of this machine are made for musl. */
export function usesMusl(architecture: string): boolean {
  const cpu = architecture === "arm64" ? "aarch64" : "x86_64";
  return existsSync(`/lib/ld-musl-${cpu}.so.1`) && !existsSync("/lib64/ld-linux-x86-64.so.2");
}

/** The target of this machine; null where there is no Bun for it. */
export function bunTargetHere(host: { readonly platform: string; readonly architecture: string }): BunTarget | null {
  return bunTarget(host.platform, host.architecture, usesMusl(host.architecture) ? "musl" : "glibc");
}
