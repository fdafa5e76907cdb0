import { readLabels } from "../arguments/label-option.ts";
import { AnswerError, objectAt, objectsAt, parseObjects, textAt, textsIn, type JsonObject } from "./json.ts";

/** What is read of a present image. */
export interface ImageFacts {
  /** Its full name, as the engine keeps it. */
  readonly name: string;
  /** `sha256:` and 64 digits, of its index or manifest. */
  readonly digest: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The variables that it sets. */
  readonly environment: Readonly<Record<string, string>>;
}

const digestForm = /^sha256:[0-9a-f]{64}$/;

/** The first image in an answer of `image inspect`, as it is for one architecture. @throws AnswerError */
export function parseImage(text: string, architecture: string): ImageFacts {
  const [answer] = parseObjects(text);
  if (answer === undefined) throw new AnswerError("an image was expected");
  const configuration = objectAt(answer, "configuration");
  // Before 1.0 these stand at the top.
  const name = textAt(configuration, "name") ?? textAt(answer, "reference") ?? textAt(answer, "name");
  const descriptor = "descriptor" in configuration ? configuration : answer;
  const digest = textAt(objectAt(descriptor, "descriptor"), "digest") ?? textAt(objectAt(answer, "index"), "digest");
  if (name === undefined || digest === undefined || !digestForm.test(digest)) {
    throw new AnswerError("an image's name and digest were expected");
  }
  const config = configOf(answer, architecture);
  return { name, digest, labels: readLabels(textsIn(objectAt(config, "Labels"))), environment: variablesOf(config) };
}

function configOf(answer: JsonObject, architecture: string): JsonObject {
  const variants = objectsAt(answer, "variants");
  const own = variants.find((variant) => textAt(objectAt(variant, "platform"), "architecture") === architecture);
  return objectAt(objectAt(own ?? variants[0] ?? {}, "config"), "config");
}

function variablesOf(config: JsonObject): Readonly<Record<string, string>> {
  const words = Array.isArray(config["Env"]) ? (config["Env"] as readonly unknown[]) : [];
  const pairs = words.filter((word) => typeof word === "string").map((word) => /^([^=]+)=(.*)$/s.exec(word) ?? []);
  return Object.fromEntries(pairs.flatMap(([, name, value]) => (name === undefined ? [] : [[name, value ?? ""]])));
}
