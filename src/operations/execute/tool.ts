import type { ToolForm, ToolImage } from "../operation-row.ts";
import { programText } from "../program-text.ts";
import type { ExecuteResponse } from "./schema.ts";

/** Characters of base64 that one answer's pictures may have together: what clients pass on to models. */
const maxImageCharacters = 700_000;
const imageTypes = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** `execute_code` for agents. */
export const executeTool: ToolForm<ExecuteResponse> = {
  title: "Run a program",
  readOnly: false,
  destructive: false,
  idempotent: false,
  openWorld: true,
  mayTakeLong: true,
  text: executeText,
  images: executeImages,
};

/** The verdict in a line, then what went wrong and what to do, then the output. */
function executeText(response: ExecuteResponse): string {
  const { artifacts = [] } = response;
  return programText(
    response,
    artifacts.map(({ path, size_bytes: size, media_type: type }) => `artifact ${path} (${type}, ${size} bytes)`),
  );
}

/** Artifacts that are pictures, as long as there is room. */
function executeImages({ artifacts = [] }: ExecuteResponse): ToolImage[] {
  let room = maxImageCharacters;
  return artifacts.flatMap(({ media_type: mediaType, encoding, content }) => {
    const fits = encoding === "base64" && content !== "" && imageTypes.has(mediaType) && content.length <= room;
    if (!fits) return [];
    room -= content.length;
    return [{ base64: content, mediaType }];
  });
}
