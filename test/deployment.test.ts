import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { seccompProfileText } from "../scripts/seccomp-profile.ts";
import { neededRights } from "../src/engines/kubernetes/check-cluster.ts";
import { projectFolder } from "./helpers/project-folder.ts";

const read = (name: string): string => readFileSync(join(projectFolder, name), "utf8");

describe("the deployment", () => {
  it("has the seccomp profile of the policy", () => {
    const profile = read("deploy/seccomp-profile.json");
    expect(profile).toContain('"SCMP_ACT_ALLOW"');
    expect(profile, "stale: run node scripts/write-seccomp-profile.ts").toBe(seccompProfileText());
  });

  it("builds from what the Dockerfile copies and .dockerignore lets through, of a checkout or of the package", () => {
    const copied = [...read("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
      .flatMap(([, names = ""]) => names.split(" "))
      .filter((name) => name !== ".")
      // A pattern, because the package has none.
      .map((name) => name.replace("package-lock.jso[n]", "package-lock.json"));
    expect(copied).toEqual(expect.arrayContaining(["package.json", "images/", "supervisor/bin/", "deploy/ca/"]));
    const passed = read(".dockerignore").split("\n");
    for (const name of [...copied, "src/", "scripts/", "tsconfig.json", "tsconfig.build.json", "dist/"])
      expect(passed).toContain(`!${name}`);
    const { files } = JSON.parse(read("package.json")) as { readonly files: readonly string[] };
    const published = ["package.json", ...files];
    for (const name of copied.filter((each) => each !== "package-lock.json"))
      expect(published.filter((each) => `${name}/`.startsWith(`${each}/`))).not.toEqual([]);
  });

  it("gives a service account of a cluster exactly the rights that are needed, in its namespace", () => {
    const objects = parseAllDocuments(read("deploy/kubernetes/namespace.yaml")).map(
      (document) => document.toJS() as Readonly<Record<string, unknown>>,
    );
    const role = objects.find(({ kind }) => kind === "Role");
    expect(role?.["rules"]).toEqual(
      neededRights.map(({ group, resource, verbs }) => ({ apiGroups: [group], resources: [resource], verbs })),
    );
    expect(objects.map(({ kind }) => kind)).toEqual(["Namespace", "ServiceAccount", "Role", "RoleBinding"]);
    expect(objects).toContainEqual(
      expect.objectContaining({
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "glovebox" },
        subjects: [{ kind: "ServiceAccount", name: "glovebox", namespace: "glovebox" }],
      }),
    );
    expect(objects[0]).toMatchObject({
      metadata: { name: "glovebox", labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
    });
  });

  it("names no package of a registry that has none", () => {
    const pages = ["README.md", "deploy/glovebox.service", ...globSync("docs/*.md", { cwd: projectFolder })];
    const installs = pages.flatMap((page) =>
      [...read(page).matchAll(/\bnpm (?:i|install)\b[^\n`]*/g)].map(([line]) => line),
    );
    expect(installs.length).toBeGreaterThan(3);
    expect(installs.filter((line) => /\sglovebox(?:\s|@|$)/.test(line))).toEqual([]);
  });
});
