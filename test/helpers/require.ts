import type { TestContext } from "vitest";

/** What a test can require: real engines and servers, which `test/testbed/up.sh` and Debian packages provide, the corpus, and clients of others. */
export const requirements = [
  "docker",
  "podman",
  "rootless",
  "ordinary-user",
  "runsc",
  "local",
  "kubernetes",
  "registry",
  "redis",
  "postgres",
  "chromium",
  "corpus",
  "clients",
] as const;
export type Requirement = (typeof requirements)[number];

/**
 * Whether GLOVEBOX_TEST_REQUIRE (names with commas between them) lists the requirement.
 *
 * An unknown name in the list is an error: otherwise a misspelt one would make a gate that is always green.
 */
export function isRequired(requirement: Requirement, environment: NodeJS.ProcessEnv = process.env): boolean {
  const names = (environment["GLOVEBOX_TEST_REQUIRE"] ?? "").split(",").map((name) => name.trim());
  for (const name of names) {
    if (name !== "" && !(requirements as readonly string[]).includes(name)) {
      throw new Error(`GLOVEBOX_TEST_REQUIRE: "${name}" is none of ${requirements.join(", ")}.`);
    }
  }
  return names.includes(requirement);
}

/** Ends a test that lacks a requirement: it fails if that is mandatory here, else it is skipped with a visible reason. */
export function skipOrFail(context: TestContext, requirement: Requirement, reason: string): never {
  if (isRequired(requirement)) {
    throw new Error(`GLOVEBOX_TEST_REQUIRE lists ${requirement}, but it cannot be used: ${reason}`);
  }
  return context.skip(`no ${requirement}: ${reason}`);
}
