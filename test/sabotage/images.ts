import type { Sabotage } from "./sabotage.ts";

const engine = "src/engines/docker/docker-engine.test.ts";
const grants = "src/platform/image-grants.test.ts";

export const imagesSabotages: readonly Sabotage[] = [
  {
    id: "images: whatever the engine finds counts",
    file: "src/engines/docker-api/images.ts",
    find: "if (status === 404 || !bears(body as ImageAnswer, wholeName)) continue;",
    replace: "if (status === 404) continue;",
    test: engine,
    name: "an image that the engine finds by 5 counts: false",
  },
  {
    id: "images: what was prepared for one can be named by all",
    file: "src/engines/docker-api/images.ts",
    find: 'if (parseImageReference(reference).kind === "name") assertNotPrepared(reference, facts.labels);',
    replace: "",
    test: engine,
    name: "an image that was prepared is refused under any name",
  },
  {
    id: "images: every pull has the operator's credentials",
    file: "src/engines/docker-api/images.ts",
    find: "const auth = useCredentials ? await this.#auth(name.registry, signal) : null;",
    replace: "const auth = await this.#auth(name.registry, signal);",
    test: engine,
    name: "asks for exactly the named image, with credentials only if it may",
  },
  {
    id: "images: the command's short matches count on Apple's service",
    file: "src/engines/apple/apple-images.ts",
    find: "if (name !== spellImage(wanted) || ",
    replace: "if (",
    test: "src/engines/apple/apple-engine.test.ts",
    name: "an image of another name that the command finds counts by its name alone",
  },
  {
    id: "images: a registry's words are passed on",
    file: "src/engines/image-errors.ts",
    find: "imageUnavailable(reference, pullReason(words), new",
    replace: "imageUnavailable(reference, words, new",
    test: "src/engines/image-errors.test.ts",
    name: "passes none of the registry's words on",
  },
  {
    id: "images: a key may name any",
    file: "src/operations/handler.ts",
    find: "assertImageGranted(parts.checkImage(reference, field), images, field);",
    replace: "parts.checkImage(reference, field);",
    test: grants,
    name: "is refused an image that is neither configured nor listed, by every operation that takes one",
  },
  {
    id: "images: a project's files may name any for a key",
    file: "src/operations/handler.ts",
    find: 'if (needed.origin === "configured") return',
    replace: 'if (needed.origin !== "request") return',
    test: grants,
    name: "is refused the same where a project's files name them",
  },
  {
    id: "images: a listed registry stands for what is below it",
    file: "src/policy/grants.ts",
    find: "spellRegistry(entry.slice(0, -everything.length)) === reference.registry",
    replace: "reference.registry.endsWith(spellRegistry(entry.slice(0, -everything.length)))",
    test: "src/policy/grants.test.ts",
    name: "evil.registry.example/x is not in",
  },
];
