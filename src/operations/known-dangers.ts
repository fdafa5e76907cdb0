import { fixedVersion, parseUpstreamVersion, type AffectedVersions } from "../base/upstream-version.ts";
import type { Severity, Finding } from "./doctor-contract.ts";
import type { EngineSetup } from "../engines/capabilities.ts";
import { nodeFaults } from "../engines/node-faults.ts";

/** A known vulnerability of an engine's component. */
export interface KnownDanger {
  /** `EngineComponent.name`. */
  readonly component: string;
  /** Identifiers of its public records; the record is the row's source. */
  readonly cves: readonly string[];
  readonly affected: readonly AffectedVersions[];
  readonly severity: Severity;
  /** What can happen, in one sentence. */
  readonly effect: string;
  /** Condition under which it matters at all. */
  readonly onlyWith?: "authorization plugins" | "a setuid helper" | "level preload";
  /** First package revisions of distributions that have the fix without upstream's version; `EngineComponent.build`. */
  readonly backports?: readonly string[];
  /** Whether the component reports upstream's version even if its package has backported fixes. */
  readonly hidesBackports?: true;
}

/**
 * Vulnerabilities of container runtimes. Versions are from the Go vulnerability database; for crun from its NEWS; for
 * gVisor (whose releases are dates) the first that contains the record's commit; backports from the packages'
 * changelogs.
 */
const runtimeDangers: readonly KnownDanger[] = [
  {
    component: "runc",
    cves: ["CVE-2021-30465"],
    affected: [{ fixed: "1.0.0-rc95" }],
    severity: "danger",
    effect: "Containers that share a volume can make the runtime mount a folder of the host into one of them.",
  },
  {
    component: "runc",
    cves: ["CVE-2024-21626"],
    affected: [{ from: "1.0.0-rc93", fixed: "1.1.12" }],
    backports: ["1.1.5+ds1-1+deb12u1"],
    severity: "danger",
    effect: "A working directory of an image or an exec can lead out of the container into the host's files.",
  },
  {
    component: "runc",
    cves: ["CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881"],
    affected: [{ fixed: "1.2.8" }, { from: "1.3.0-rc.1", fixed: "1.3.3" }, { from: "1.4.0-rc.1", fixed: "1.4.0-rc.3" }],
    severity: "danger",
    effect:
      "Races while a container is mounted let a malicious image write to the kernel's files on the host and break out.",
  },
  {
    component: "runc",
    cves: ["CVE-2026-41579"],
    affected: [{ fixed: "1.3.6" }, { from: "1.4.0", fixed: "1.4.3" }, { from: "1.5.0-rc.1", fixed: "1.5.0-rc.3" }],
    severity: "note",
    effect: "An image whose /dev is a symbolic link has a narrow way to write to the host's files.",
  },
  {
    component: "crun",
    cves: ["CVE-2026-30892"],
    affected: [{ fixed: "1.27" }],
    severity: "warning",
    effect: "A program that is added to a running container may run as another user than the one asked for.",
  },
  {
    component: "crun",
    cves: ["CVE-2026-47766"],
    affected: [{ fixed: "1.28" }],
    severity: "warning",
    effect: "An image whose /dev is a symbolic link makes the runtime set devices up outside the container.",
  },
  {
    component: "gVisor",
    cves: ["CVE-2026-96812"],
    affected: [{ fixed: "20260824.0" }],
    severity: "danger",
    effect:
      "Where the host has the CUSE driver, an image with a device file of it can make a device on the host and run code there as root.",
  },
  {
    component: "containerd",
    cves: ["CVE-2025-47290"],
    affected: [{ from: "2.1.0", fixed: "2.1.1" }],
    severity: "danger",
    effect: "Pulling a malicious image can write to the host's files.",
  },
  {
    component: "containerd",
    cves: ["CVE-2026-47262"],
    affected: [
      { from: "1.7.0", fixed: "1.7.33" },
      { from: "2.0.0", fixed: "2.0.10" },
      { from: "2.1.0", fixed: "2.1.9" },
      { from: "2.2.0", fixed: "2.2.5" },
      { from: "2.3.0", fixed: "2.3.2" },
    ],
    severity: "warning",
    effect: "Starting a container of a malicious image can use up the host's memory and end the engine.",
  },
  {
    component: "containerd",
    cves: ["CVE-2024-25621"],
    affected: [
      { fixed: "1.7.29" },
      { from: "2.0.0", fixed: "2.0.7" },
      { from: "2.1.0-beta.0", fixed: "2.1.5" },
      { from: "2.2.0-beta.0", fixed: "2.2.0" },
    ],
    backports: ["1.6.20~ds1-1+deb12u2"],
    severity: "note",
    effect: "Other users of the host can read and change what belongs to containers; sandboxes cannot.",
  },
];

/** Vulnerabilities of the engines themselves. Versions are from each CVE record and the engines' release notes. */
const engineDangers: readonly KnownDanger[] = [
  {
    component: "Docker Desktop",
    cves: ["CVE-2025-9074"],
    affected: [{ from: "4.25.0", fixed: "4.44.3" }],
    severity: "danger",
    effect: "A container with a network reaches the engine's own API, and through it the host's files.",
  },
  {
    component: "Docker Desktop",
    cves: ["CVE-2026-5843"],
    affected: [{ fixed: "4.71.0" }],
    severity: "warning",
    effect: "A container with a network reaches Docker Model Runner, and through it can run code on the host.",
  },
  {
    component: "Docker Desktop",
    cves: ["CVE-2026-112917"],
    affected: [{ fixed: "4.98.0" }],
    severity: "note",
    effect:
      "On Windows with WSL 2, containers under Docker's own seccomp profile reach services of the host; Glovebox's own profile refuses that kind of socket.",
  },
  {
    component: "Docker Engine",
    cves: ["CVE-2024-29018"],
    affected: [{ fixed: "23.0.11" }, { from: "24.0.0", fixed: "25.0.5" }, { from: "26.0.0-rc1", fixed: "26.0.0-rc3" }],
    severity: "warning",
    effect: "Containers on a network without a way out can still leak data in the names that they look up.",
  },
  {
    component: "Docker Engine",
    cves: ["CVE-2024-23651", "CVE-2024-23652", "CVE-2024-23653"],
    affected: [{ fixed: "25.0.2" }],
    severity: "warning",
    effect: "Building an image from an untrusted Dockerfile can read, remove and run things on the host (BuildKit).",
  },
  {
    component: "Docker Engine",
    cves: ["CVE-2026-41567", "CVE-2026-41568", "CVE-2026-42306"],
    affected: [{ fixed: "29.5.1" }],
    severity: "note",
    effect:
      "Copying files into an untrusted container with `docker cp` can run or overwrite things on the host; Glovebox copies in another way.",
  },
  {
    component: "Docker Engine",
    cves: ["CVE-2026-97032", "CVE-2026-78659", "CVE-2026-78663", "CVE-2026-78669"],
    affected: [{ fixed: "29.9.0" }],
    severity: "note",
    effect:
      "Anyone who may use the engine's API, or an image that reads a build's Dockerfile for it, can end the engine or use up its memory and processor; sandboxes reach neither, and Glovebox builds without such images.",
  },
  {
    component: "Docker Engine",
    cves: ["CVE-2024-41110"],
    affected: [
      { from: "19.03.0", fixed: "23.0.15" },
      { from: "24.0.0", fixed: "25.0.6" },
      { from: "26.0.0", fixed: "26.1.5" },
      { from: "27.0.0", fixed: "27.1.1" },
    ],
    severity: "danger",
    effect: "A request with an empty body passes the authorization plugins by.",
    onlyWith: "authorization plugins",
  },
  {
    component: "Docker Engine",
    cves: ["CVE-2026-34040"],
    affected: [{ fixed: "29.3.1" }],
    severity: "danger",
    effect: "A request with an oversized body passes the authorization plugins by.",
    onlyWith: "authorization plugins",
  },
  {
    component: "Podman Engine",
    cves: ["CVE-2026-55686"],
    affected: [{ from: "3.0.0", fixed: "5.7.1" }],
    severity: "warning",
    effect:
      "An image whose working directory leads over symbolic links can make folders on the host, or change their owner.",
  },
  {
    component: "Podman Engine",
    cves: ["CVE-2024-1753", "CVE-2024-9407", "CVE-2024-9675", "CVE-2024-11218"],
    affected: [{ fixed: "5.3.2" }],
    severity: "warning",
    effect: "Building an image from an untrusted Containerfile can reach the host's files.",
  },
  {
    component: "Podman Engine",
    cves: ["CVE-2024-9341"],
    affected: [{ fixed: "5.2.4" }],
    severity: "warning",
    effect:
      "Where the host is in FIPS mode, a malicious image can have folders of the host mounted into its container.",
  },
  {
    component: "Podman Engine",
    cves: ["CVE-2025-11395"],
    affected: [{ fixed: "6.1.2" }],
    severity: "note",
    effect:
      "Importing an untrusted image or volume from an archive can overwrite the host's files; Glovebox imports none.",
  },
  {
    component: "bubblewrap",
    cves: ["CVE-2020-5291"],
    affected: [{ from: "0.4.0", fixed: "0.4.1" }],
    severity: "danger",
    effect: "Anyone who may run the setuid program becomes root.",
    onlyWith: "a setuid helper",
    hidesBackports: true,
  },
  {
    component: "bubblewrap",
    cves: ["CVE-2026-41163"],
    affected: [{ from: "0.11.0", fixed: "0.11.2" }],
    severity: "danger",
    effect: "Anyone who may run the setuid program can make mounts with root's power.",
    onlyWith: "a setuid helper",
    hidesBackports: true,
  },
];

/** Vulnerabilities of the interpreter, on which only level `preload` relies. */
const nodeDangers: readonly KnownDanger[] = nodeFaults.map(({ cve, affected, opensFiles, effect }) => ({
  component: "Node",
  cves: [cve],
  affected,
  severity: opensFiles ? "danger" : "warning",
  effect,
  onlyWith: "level preload",
}));

/**
 * Vulnerabilities by which a sandbox or its image can break out or bypass isolation, and what they give access to.
 *
 * If one upgrade fixes several, the lesser ones are left out. The kernel is not included: distributions fix it without
 * a version number that shows it. Checked in November 2026.
 */
export const knownDangers: readonly KnownDanger[] = [...nodeDangers, ...runtimeDangers, ...engineDangers];

/**
 * What is known about the Node that runs Glovebox, for an engine whose programs it does not contain: the kernel
 * isolates them, but the same machine may come to rely on Node.
 */
export function nodeFindings({ inProcess }: EngineSetup, nodeVersion: string): readonly Finding[] {
  const version = parseUpstreamVersion(nodeVersion);
  if (inProcess !== true || version === null) return [];
  return nodeFaults.flatMap(({ cve, affected, effect }) => {
    const fixed = fixedVersion(version, affected);
    if (fixed === null) return [];
    return [
      {
        severity: "note",
        what: `The permission model of Node ${nodeVersion.replace(/^v/, "")} is known to be broken (${cve}).`,
        why: `${effect} Programs are isolated by the kernel here and do not depend on it.`,
        fix: `Upgrade Node to ${fixed} or later.`,
      },
    ];
  });
}
