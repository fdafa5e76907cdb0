import { createId } from "../../base/id.ts";
import { labels as ownLabels } from "../labels.ts";
import type { ContainerLink } from "./container/container-link.ts";
import { madeImages } from "./made-images.ts";

/** What is written on an image of a container. */
interface ImageMarks {
  readonly labels: Readonly<Record<string, string>>;
  /** The user of its programs where that is one of ours: containers of the image give it to theirs. */
  readonly programUid: number | null;
}

/** Makes an image of the container's files, by a name that no label can bring along, and resolves to its id. */
export async function commitContainer(
  { id: container, api }: Pick<ContainerLink, "id" | "api">,
  { labels, programUid }: ImageMarks,
  signal: AbortSignal | undefined,
): Promise<string> {
  const tag = createId("img");
  const marked = {
    ...labels,
    [ownLabels.image]: tag,
    ...(programUid === null ? {} : { [ownLabels.programUser]: String(programUid) }),
  };
  const changes = Object.entries(marked)
    .map(([name, value]) => `LABEL ${name}=${value}`)
    .join("\n");
  const { body } = await api.call("make an image of the container", {
    method: "POST",
    path: "/commit",
    // Paused meanwhile, so that no file is captured half written.
    query: { container, pause: "1", changes, repo: madeImages, tag },
    // Podman reads nothing of it, but fails without it.
    body: { Labels: marked },
    signal,
  });
  const { Id: id } = body as { readonly Id: string };
  // Without it, Podman takes the id for a name once the image is gone.
  return id.startsWith("sha256:") ? id : `sha256:${id}`;
}
