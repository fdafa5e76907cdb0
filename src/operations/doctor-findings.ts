import { fixedVersion, parseUpstreamVersion, type UpstreamVersion } from "../base/upstream-version.ts";
import type { EngineComponent, EngineSetup } from "../engines/capabilities.ts";
import type { Finding } from "./doctor-contract.ts";
import type { KnownDanger } from "./known-dangers.ts";
import type { Engine, EngineName } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { defaultSessionImage } from "../policy/profile.ts";
import { bunLabel, bunVersion } from "../base/bun-packages.ts";

/**
 * Which known vulnerabilities the engine's components have. A distribution's package may have the fix without
 * upstream's version.
 */
export function versionFindings(
  components: readonly EngineComponent[],
  setup: EngineSetup,
  dangers: readonly KnownDanger[],
): readonly Finding[] {
  return components.flatMap((component) => {
    const rows = dangers.filter((danger) => danger.component === component.name && matters(danger, setup));
    return findingsOf(component, rows).map((each) => ({ ...each, ...onlyWith(component) }));
  });
}

function findingsOf(component: EngineComponent, rows: readonly KnownDanger[]): readonly Finding[] {
  const version = parseUpstreamVersion(component.version);
  if (version === null) return rows.length === 0 ? [] : [unreadable(component)];
  return rows.flatMap((danger) => {
    const fixed = fixedVersion(version, danger.affected);
    return fixed === null || isBackported(component, danger) ? [] : [finding(component, version, { danger, fixed })];
  });
}

/** What most runs of the engine do not use. */
function onlyWith({ name, version, ociRuntime }: EngineComponent): Pick<Finding, "only_with"> {
  return ociRuntime === undefined ? {} : { only_with: { oci_runtime: ociRuntime, part: `${name} ${version}` } };
}

function matters({ onlyWith }: KnownDanger, setup: EngineSetup): boolean {
  if (onlyWith === "authorization plugins") return (setup.authorizationPlugins ?? []).length > 0;
  if (onlyWith === "a setuid helper") return setup.setuid === true;
  if (onlyWith === "level preload") return setup.guardsInterpreters === true;
  return true;
}

function finding(
  { name, version: shown, build }: EngineComponent,
  version: UpstreamVersion,
  { danger, fixed }: { readonly danger: KnownDanger; readonly fixed: string },
): Finding {
  const cves = danger.cves.join(", ");
  const upgrade = `pgrade ${name} to ${fixed} or later.`;
  if (version.suffix === "" && !isPackageRevision(build) && danger.hidesBackports !== true) {
    return {
      severity: danger.severity,
      what: `${name} ${shown} is known to have ${cves}.`,
      why: danger.effect,
      fix: `U${upgrade}`,
    };
  }
  const packaged = isPackageRevision(build) ? ` (this is ${build})` : "";
  return {
    severity: danger.severity === "danger" ? "warning" : danger.severity,
    what: `${name} ${shown} may have ${cves}: upstream fixed it in ${fixed}.`,
    why: danger.effect,
    fix: `Look for the fix in the changelog of the distribution's package${packaged}; if it is not there, u${upgrade}`,
  };
}

/** Whether the package is one that has the fix, or a later revision of it: `1.1.5+ds1-1+deb12u2` after `...u1`. */
function isBackported({ build = "" }: EngineComponent, { backports = [] }: KnownDanger): boolean {
  const [own, revision] = splitRevision(build);
  return backports.some((backport) => {
    const [fixed, first] = splitRevision(backport);
    return own === fixed && revision >= first;
  });
}

function splitRevision(build: string): readonly [series: string, revision: number] {
  const [, series = build, revision = "0"] = /^(.*\+deb\d+u)(\d+)$/.exec(build) ?? [];
  return [series, Number(revision)];
}

/** Distributions put the package's revision in the place of upstream's commit. */
function isPackageRevision(build: string | undefined): boolean {
  return build !== undefined && /^\d+(?:\.\d+)+[-+~]/.test(build) && !/-g[0-9a-f]{7,}/.test(build);
}

function unreadable({ name, version }: EngineComponent): Finding {
  return {
    severity: "note",
    what: `The version of ${name}, "${version}", cannot be read.`,
    why: "So Glovebox cannot tell whether it has known vulnerabilities.",
    fix: `Compare it by hand with the security advisories of ${name}.`,
  };
}

/** Labels of an image. */
export type ImageLabels = Readonly<Record<string, string>>;

/** The label is untrusted. */
const versionForm = /^\d[\w.+-]{0,39}$/;

/** Labels of the engine's image for sessions; null if there is none, or the engine fails. @throws CANCELLED */
export async function sessionImageLabels(engine: Engine, signal?: AbortSignal): Promise<ImageLabels | null> {
  try {
    if (!(await engine.images.has(defaultSessionImage, { signal }))) return null;
    return await engine.images.labels(defaultSessionImage, { signal });
  } catch (error) {
    if (error instanceof GloveboxError && error.errorType === "CANCELLED") throw error;
    return null;
  }
}

/** What an operator should know about the image for sessions: one with another Bun is still used (SPEC IM2). */
export function imageFindings(engine: EngineName, labels: ImageLabels | null): readonly Finding[] {
  const version = labels?.[bunLabel];
  if (labels === null || version === bunVersion) return [];
  const has = version !== undefined && versionForm.test(version) ? `Bun ${version}` : "a Bun that it does not name";
  return [
    {
      severity: "note",
      what: `The image ${defaultSessionImage} has ${has}; this Glovebox is made for Bun ${bunVersion}.`,
      why: "Sessions use it as it is: programs may behave differently, and miss fixes.",
      fix: `Rebuild it: \`glovebox images build --engine ${engine}\`.`,
    },
  ];
}
