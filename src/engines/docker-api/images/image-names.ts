import { parseImageReference, spellImage, spellingOf } from "../../../policy/image-reference.ts";

/** The part of an image's inspection that says what it is. */
export interface NamedImage {
  readonly Id: string;
  readonly RepoTags?: readonly string[] | null;
  readonly RepoDigests?: readonly string[] | null;
}

/** The registry that stands for an engine's own builds, where it names any so. */
const localRegistry = "localhost";

/**
 * The whole names under which an image may be on the engine, in the order in which they count; a whole id is one too.
 * Each has its registry, so that no engine takes it for the beginning of an id, an alias or a short name.
 * @throws INVALID_REQUEST for what is no reference
 */
export function wholeNames(reference: string, namesLocalBuilds: boolean): readonly string[] {
  const parsed = parseImageReference(reference);
  const spelled = spellImage(parsed);
  if (parsed.kind === "id" || parsed.shortPath === null || !namesLocalBuilds) return [spelled];
  return [spelled, spellImage({ ...parsed, registry: localRegistry, path: parsed.shortPath })];
}

/** Whether the image found bears exactly this whole name: engines find images by much less. */
export function bears({ Id: id, RepoTags: tags, RepoDigests: digests }: NamedImage, wholeName: string): boolean {
  if (parseImageReference(wholeName).kind === "id")
    return wholeName === (id.startsWith("sha256:") ? id : `sha256:${id}`);
  // Those without a name are listed as `<none>:<none>`.
  return [...(tags ?? []), ...(digests ?? [])].some((name) => spellingOf(name) === wholeName);
}

/** Path of the calls on a local image. */
export function imagePath(wholeName: string, action?: string): string {
  // Only a parsed name has nothing in it that would lead out of its place in the path.
  const name = spellImage(parseImageReference(wholeName));
  return action === undefined ? `/images/${name}` : `/images/${name}/${action}`;
}
