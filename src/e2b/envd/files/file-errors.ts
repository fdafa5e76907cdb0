import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { E2bRefusal } from "../../http/refusal.ts";

/** An error of a file operation in E2B's words, where it has some. */
export function inE2bWords(error: unknown, path: string): unknown {
  if (!(error instanceof GloveboxError)) return error;
  const { errorType, message } = error;
  const { code } = error.context;
  if (errorType === "NOT_FOUND") return new E2bRefusal(404, `path '${path}' does not exist`);
  if (code === "IS_A_DIRECTORY") return new E2bRefusal(400, `path '${path}' is a directory`);
  if (code === "NO_SPACE") return new E2bRefusal(507, message);
  return error;
}
