import type { KnownDanger } from "./known-danger.ts";

/**
 * Vulnerabilities of container runtimes. Versions are from the Go vulnerability database; for crun from its NEWS; for
 * gVisor (whose releases are dates) the first that contains the record's commit; backports from the packages'
 * changelogs.
 */
export const runtimeDangers: readonly KnownDanger[] = [
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
