import { E2bRefusal } from "../../http/refusal.ts";
import { attributePrefix, maxAttributeBytes, type FileAttributes } from "../filesystem/file-attributes.ts";
import { findTool, toolExits } from "../filesystem/inside-tool.ts";
import { runInside } from "../filesystem/run-inside.ts";
import type { RpcCall } from "../rpc/rpc-call.ts";

const header = "x-metadata-";
const maxNameBytes = 255 - attributePrefix.length;
const maxAttributes = 64;

const setScript = `${findTool}; [ -n "$t" ] || exit ${toolExits.noTool}; exec "$t" set-attributes ${attributePrefix} "$@"`;

/** The attributes that an upload's headers ask for. @throws E2bRefusal 400 for what is no attribute, or too much */
export function attributesAsked(headers: NodeJS.Dict<string | string[]>): FileAttributes {
  const asked = Object.entries(headers)
    .filter(([name]) => name.startsWith(header))
    .map(([name, value]) => [name.slice(header.length), String(value)] as const);
  for (const [name, value] of asked) {
    if (!/^[!-~]+$/.test(name) || name.length > maxNameBytes) {
      throw new E2bRefusal(400, `X-Metadata: expected names of 1 to ${maxNameBytes} characters of printable ASCII`);
    }
    if (!/^[ -~]*$/.test(value)) {
      throw new E2bRefusal(400, `X-Metadata-${name}: expected a value of printable ASCII`);
    }
  }
  const bytes = asked.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (asked.length > maxAttributes || bytes > maxAttributeBytes) {
    throw new E2bRefusal(
      400,
      `X-Metadata: expected at most ${maxAttributes} attributes and ${maxAttributeBytes} bytes, got ${asked.length} and ${bytes}`,
    );
  }
  return Object.fromEntries(asked);
}

/** Gives a file that has just been written its attributes. @throws E2bRefusal if it is written and cannot have them */
export async function setAttributes(call: RpcCall, path: string, attributes: FileAttributes): Promise<void> {
  const pairs = Object.entries(attributes).flat();
  if (pairs.length === 0) return;
  const { exitCode } = await runInside(call, setScript, [path, ...pairs]);
  if (exitCode === 0) return;
  if (exitCode === toolExits.full) throw new E2bRefusal(507, `'${path}' is written, but has no room for X-Metadata`);
  if (exitCode === toolExits.unsupported || exitCode === toolExits.noTool) {
    throw new E2bRefusal(400, `'${path}' is written, but files have no X-Metadata there: its file system keeps none`);
  }
  throw new E2bRefusal(500, `'${path}' is written, but X-Metadata could not be set (exit code ${exitCode})`);
}
