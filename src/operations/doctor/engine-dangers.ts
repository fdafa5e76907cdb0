import type { KnownDanger } from "./known-danger.ts";

/** Vulnerabilities of the engines themselves. Versions are from each CVE record and the engines' release notes. */
export const engineDangers: readonly KnownDanger[] = [
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
