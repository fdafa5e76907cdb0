import { engineDangers } from "./engine-dangers.ts";
import type { KnownDanger } from "./known-danger.ts";
import { nodeDangers } from "./node-dangers.ts";
import { runtimeDangers } from "./runtime-dangers.ts";

/**
 * Vulnerabilities by which a sandbox or its image can break out or bypass isolation, and what they give access to.
 *
 * If one upgrade fixes several, the lesser ones are left out. The kernel is not included: distributions fix it without
 * a version number that shows it. Checked in November 2026.
 */
export const knownDangers: readonly KnownDanger[] = [...nodeDangers, ...runtimeDangers, ...engineDangers];
