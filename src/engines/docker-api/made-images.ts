import { labels } from "../labels.ts";

/** The part of a listed image that is read. */
export interface ListedImage {
  readonly Id: string;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly RepoTags?: readonly string[] | null;
}

/** Who owns what programs wrote to the container that an image was made of; null where nothing of ours says so. */
export function programUidOf(image: ListedImage): number | null {
  const text = isMadeImage(image) ? (image.Labels?.[labels.programUser] ?? "") : "";
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Repository of the images that are made of containers; engines complete a name that says no registry, each in its way. */
export const madeImages = "localhost/glovebox-made";

/**
 * Whether an image was made of a container of ours, and nobody else has named it. Images hand their labels down to those
 * that are made of them, and their authors write what they like; a tag on this engine is nothing that a label brings.
 */
export function isMadeImage({ Labels: own, RepoTags: names }: ListedImage): boolean {
  const tag = own?.[labels.image];
  const [name, ...others] = names ?? [];
  return tag !== undefined && others.length === 0 && name === `${madeImages}:${tag}`;
}
