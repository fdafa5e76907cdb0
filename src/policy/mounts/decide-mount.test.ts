import { describe, expect, it } from "vitest";
import { blockedPatterns } from "./blocked-pattern.ts";
import { decideMount } from "./decide-mount.ts";
import type { MountPolicy, MountRoot, MountUse, RootSource } from "./mount-policy.ts";
import type { FoundPlace, MountRequest, MountVerdict } from "./mount-verdict.ts";

function root(path: string, source: RootSource = "allowlist", allowReadWrite = true): MountRoot {
  return { path, source, listedAs: `${source} ${path}`, allowReadWrite, description: null };
}

const base: MountPolicy = {
  roots: [
    root("/srv/data"),
    root("/srv/plain"),
    root("/srv/docs", "allowlist", false),
    root("/home/ann/app", "working_directory"),
  ],
  blockedPatterns: blockedPatterns(["internal"]),
  protectedPlaces: [
    { path: "/srv/data/run/docker.sock", what: "a container engine's socket" },
    { path: "/home/ann/app/state", what: "the records of Glovebox" },
  ],
  nonMainReadOnly: true,
  hasAllowlist: true,
  projectsSetting: "THE_SETTING",
};

interface Case extends Partial<MountRequest> {
  readonly real?: string;
  readonly kind?: FoundPlace["kind"];
}

function decide(given: string, { real = given, kind = "folder", ...request }: Case = {}, policy = base): MountVerdict {
  const defaults = { givenPath: given, use: "additional", access: "read-write", isMain: true } as const;
  return decideMount(policy, { realPath: real, kind }, { ...defaults, ...request });
}

describe("roots", () => {
  it.each([
    ["/srv/plain", "allowed-root"],
    ["/srv/data/a/b", "allowed-root"],
    ["/srv/docs/x", "read-only-root"],
  ] as const)("%s is allowed by %s", (path, rule) => expect(decide(path)).toMatchObject({ allowed: true, rule }));

  it.each(["/srv", "/", "/srv/database", "/srv/data2", "/srv/..data", "/etc/passwd", "/home/ann", "/srv/dat"])(
    "%s is outside",
    (path) => expect(decide(path)).toMatchObject({ allowed: false, rule: "outside-roots", root: null, target: null }),
  );

  it("a name that begins with two dots is a name", () => {
    expect(decide("/srv/data/..hidden").allowed).toBe(true);
  });

  it("judges where a link leads, not where it stands", () => {
    expect(decide("/srv/data/link", { real: "/etc/hosts" })).toMatchObject({ allowed: false, rule: "outside-roots" });
    expect(decide("/elsewhere/link", { real: "/srv/data/x" })).toMatchObject({ allowed: true });
  });

  it("folders for projects are not for additional mounts", () => {
    expect(decide("/home/ann/app/src", { use: "project" })).toMatchObject({ allowed: true, rule: "working-directory" });
    const refused = decide("/home/ann/app/src");
    expect(refused).toMatchObject({ allowed: false, rule: "outside-roots" });
    expect(refused.explanation).toContain("not enough for an additional mount");
  });

  it("the allowlist's folders are for projects too", () => {
    expect(decide("/srv/data/x", { use: "project" })).toMatchObject({ allowed: true, readOnly: false, target: null });
    expect(decide("/srv/docs/x", { use: "project" })).toMatchObject({ allowed: true, readOnly: true });
  });

  it("without an allowlist there are no additional mounts, and projects stay", () => {
    const policy = { ...base, hasAllowlist: false, roots: [root("/home/ann/app", "working_directory")] };
    expect(decide("/home/ann/app/x", {}, policy)).toMatchObject({ allowed: false, rule: "no-allowlist" });
    expect(decide("/home/ann/app/x", { use: "project" }, policy)).toMatchObject({ allowed: true, readOnly: false });
  });

  it.each([
    ["the innermost listed folder", [root("/a"), root("/a/b", "allowlist", false)], true],
    ["the innermost, also when it allows more", [root("/a", "allowlist", false), root("/a/b")], false],
    [
      "a listed folder before the working directory",
      [root("/a", "allowlist", false), root("/a/b", "working_directory")],
      true,
    ],
    ["the allowlist before project_roots", [root("/a/b", "project_roots"), root("/a/b", "allowlist", false)], true],
    ["the read-only one of two entries", [root("/a/b"), root("/a/b", "allowlist", false)], true],
  ] as const)("%s decides", (_, roots, readOnly) => {
    expect(decide("/a/b/c", { use: "project" }, { ...base, roots })).toMatchObject({ allowed: true, readOnly });
    expect(decide("/a/b/c", { use: "project" }, { ...base, roots: roots.toReversed() }).readOnly).toBe(readOnly);
  });

  it("says in other words what is outside of what", () => {
    const words = (roots: readonly MountRoot[]): string =>
      decide("/etc/x", { use: "project" }, { ...base, roots }).explanation;
    expect(words([])).toContain("none is listed");
    expect(words([root("/w", "working_directory")])).toBe("It is outside the working directory.");
    expect(words([root("/w", "project_roots")])).toBe("It is outside the folders that may be used.");
  });
});

describe("advice on a path outside the roots", () => {
  const advice = (path: string, more: Partial<MountPolicy> = {}, use: MountUse = "project"): string | undefined =>
    decide(path, { use }, { ...base, ...more }).advice;

  it("names the setting that lists folders for projects, and the allowlist", () => {
    expect(advice("/etc/x")).toContain("have its folder listed: THE_SETTING, or allowedRoots of the mount allowlist");
    expect(advice("/etc/x", {}, "additional")).toContain("have its folder listed: allowedRoots of the mount allowlist");
  });

  it("names what an API key needs beside the deployment's setting", () => {
    expect(advice("/etc/x", { within: [] })).toMatch(/mount_roots of this API key in the keys file .*THE_SETTING/);
  });

  it("speaks of another place to start from only if that would help", () => {
    expect(advice("/etc/x")).toContain("start from a folder above it");
    expect(advice("/etc/x", { roots: [root("/srv", "project_roots")] })).not.toContain("start from");
    expect(advice("/etc/x", { within: ["/home/ann/app"] })).not.toContain("start from");
  });

  it("is the same for every path, also for what no root would allow", () => {
    expect(advice("/home/ben/.ssh")).toBe(advice("/etc/x"));
    expect(advice("/")).toBe(advice("/etc/x"));
  });
});

describe("writing", () => {
  it.each([
    ["read-write", true, "/srv/data/x", false, "allowed-root"],
    ["read-only", true, "/srv/data/x", true, "allowed-root"],
    ["read-write", false, "/srv/data/x", true, "non-main-read-only"],
    ["read-only", false, "/srv/data/x", true, "allowed-root"],
    ["read-write", true, "/srv/docs/x", true, "read-only-root"],
    ["read-write", false, "/srv/docs/x", true, "read-only-root"],
  ] as const)("%s, main group %s, %s: read-only %s by %s", (access, isMain, path, readOnly, rule) => {
    const verdict = decide(path, { access, isMain });
    expect(verdict).toMatchObject({ allowed: true, readOnly, rule });
    expect(verdict.whatWouldAllow === null).toBe(access === "read-only" || !readOnly);
  });

  it("by any group where nonMainReadOnly is off, and in projects", () => {
    expect(decide("/srv/data/x", { isMain: false }, { ...base, nonMainReadOnly: false }).readOnly).toBe(false);
    expect(decide("/srv/data/x", { isMain: false, use: "project" }).readOnly).toBe(false);
  });
});

describe("what no root allows", () => {
  it.each([
    ["/srv/data/.ssh", "/srv/data/.ssh", ".ssh"],
    ["/srv/data/.ENV/x", "/srv/data/.ENV/x", ".env"],
    ["a link to it", "/srv/data/.aws/x", ".aws"],
    ["an operator's", "/srv/data/my-internal-x", "internal"],
  ])("%s: a blocked pattern", (_, real, pattern) => {
    const verdict = decide("/srv/data/innocent", { real });
    expect(verdict).toMatchObject({ allowed: false, rule: "blocked-pattern", pattern, readOnly: true });
    expect(verdict.explanation).toContain(pattern);
    expect(verdict.whatWouldAllow).toMatch(pattern === "internal" ? /blockedPatterns/ : /^Nothing/);
  });

  it("a link with a blocked name, wherever it leads", () => {
    expect(decide("/srv/data/.env", { real: "/srv/data/shared/values", kind: "file" })).toMatchObject({
      allowed: false,
      rule: "blocked-pattern",
      pattern: ".env",
    });
  });

  it("a blocked name in the root itself", () => {
    const roots = [root("/srv/secrets")];
    expect(decide("/srv/secrets/x", {}, { ...base, roots }).rule).toBe("blocked-pattern");
  });

  it.each([
    ["the place itself", "/srv/data/run/docker.sock", "additional"],
    ["a folder that holds it", "/srv/data/run", "additional"],
    ["a folder far above it", "/srv/data", "additional"],
    ["what is in it", "/home/ann/app/state/leases/x", "project"],
    ["the working directory around it", "/home/ann/app", "project"],
  ] as const)("a protected place: %s", (_, path, use) => {
    const policy = { ...base, blockedPatterns: [] };
    const near = path === "/srv/data" ? { ...policy, roots: [root("/srv")] } : policy;
    expect(decide(path, { use }, near)).toMatchObject({ allowed: false, rule: "protected-place" });
  });

  it("nothing of a neighbour of a protected place", () => {
    expect(decide("/srv/data/run2", {}).allowed).toBe(true);
  });

  it("the whole file system, even as a root", () => {
    const policy = { ...base, roots: [root("/")], protectedPlaces: [] };
    expect(decide("/", {}, policy)).toMatchObject({ allowed: false, rule: "whole-file-system" });
  });

  it("a socket, a device, a pipe", () => {
    expect(decide("/srv/data/x", { kind: "other" })).toMatchObject({ allowed: false, rule: "not-a-file-or-folder" });
  });

  it("says that nothing helps when a path outside would be refused inside too", () => {
    expect(decide("/home/ann/.ssh").whatWouldAllow).toContain("blocked-pattern .ssh");
    expect(decide("/").whatWouldAllow).toContain("whole-file-system");
    expect(decide("/home/ann/app/state").whatWouldAllow).toContain("protected-place");
    expect(decide("/opt/x").whatWouldAllow).toContain("allowedRoots");
  });
});

describe("the target", () => {
  it.each([
    [undefined, "/workspace/extra/x"],
    ["data", "/workspace/extra/data"],
    ["data/", "/workspace/extra/data"],
    ["./a//b", "/workspace/extra/a/b"],
    ["..a", "/workspace/extra/..a"],
  ])("%j becomes %s", (target, expected) => expect(decide("/srv/data/x", { target }).target).toBe(expected));

  it.each([
    "..",
    "../x",
    "a/../../x",
    "a/..",
    "/etc",
    "/",
    "C:/x",
    "C:x",
    "a\\b",
    "",
    ".",
    "a\0b",
    "a\nb",
    "//",
    "x".repeat(2000),
  ])("%j is refused", (target) =>
    expect(decide("/srv/data/x", { target })).toMatchObject({ allowed: false, rule: "bad-target" }),
  );

  it("is the given name's, not that of where it leads", () => {
    expect(decide("/srv/data/current", { real: "/srv/data/v12" }).target).toBe("/workspace/extra/current");
  });

  it("must be named when the path's own name cannot be one", () => {
    expect(decide("/srv/data/a\nb").rule).toBe("bad-target");
    expect(decide("/srv/data/a\nb", { target: "ab" }).allowed).toBe(true);
  });

  it("is only for additional mounts", () => {
    expect(decide("/srv/data/x", { use: "project", target: "../x" })).toMatchObject({ allowed: true, target: null });
  });
});
