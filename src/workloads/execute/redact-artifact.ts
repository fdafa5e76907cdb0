import type { Redaction } from "../../policy/redaction/redaction.ts";
import { describeContent } from "./artifact-content.ts";
import type { Artifact } from "./artifacts.ts";

/** The artifact without the values of secrets in its content and its path; its size stays that of the file. */
export function redactArtifact(artifact: Artifact, redaction: Redaction): Artifact {
  const path = redaction.text(artifact.path);
  const bytes = Buffer.from(artifact.content, artifact.encoding);
  const redacted = redaction.bytes(bytes);
  if (Buffer.compare(bytes, redacted) === 0) return { ...artifact, path };
  return { ...artifact, path, ...describeContent(path, redacted) };
}
