import { kibibyte } from "../../base/bytes.ts";
import type { CallOptions } from "../../engines/engine.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import type { Sandbox } from "../sandbox.ts";

/** The highest number: above it are the users of sandboxes, of their supervisors and helpers, and nobody. */
const maxUser = 59_999;
const expected = `a name of the sandbox's /etc/passwd, or numbers as 1000 or 1000:1000, at most ${maxUser}`;
const numbers = /^(?<user>0|[1-9]\d{0,4})(?::(?<group>0|[1-9]\d{0,4}))?$/;
const name = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/;
/** Of the sandbox's file of names; later lines are not read. */
const maxPasswdBytes = 64 * kibibyte;

/** What a user is chosen in. */
export type UserPlace = Pick<Sandbox, "capabilities" | "engineName" | "files" | "writablePaths">;

/**
 * The user that a caller's word means, as `uid:gid`; without a group it is that of the same number. Its programs have no capability,
 * as all others. Refused where it could be a person or a service of the host (SPEC SC11).
 * @throws INVALID_REQUEST, UNSUPPORTED, and what reading a file throws
 */
export async function chosenUser(place: UserPlace, asked: string, options: CallOptions = {}): Promise<string> {
  const given = numbers.exec(asked);
  if (given === null && !name.test(asked)) throw invalidField("user", expected, asked);
  const { chosenUsers } = place.capabilities;
  if (chosenUsers === undefined) throw noChoice(place.engineName);
  if (place.writablePaths.length > 0) throw ownersOnly(place.engineName);
  const found = given ?? numbers.exec(userNamed(asked, await passwdOf(place, options)) ?? "");
  if (found === null) throw invalidField("user", expected, asked);
  const { user = "", group = user } = found.groups ?? {};
  if (Math.max(Number(user), Number(group)) > maxUser) throw invalidField("user", expected, asked);
  if (chosenUsers === "ordinary" && Math.min(Number(user), Number(group)) === 0) throw noRoot(place.engineName);
  return `${user}:${group}`;
}

/** `uid:gid` as the first line of that name in a file of names has them, whatever they are; null: there is none. */
export function userNamed(asked: string, passwd: string): string | null {
  const line = passwd.split("\n").find((each) => each.startsWith(`${asked}:`));
  const [, , user, group] = line?.split(":", 5) ?? [];
  return user === undefined || group === undefined ? null : `${user}:${group}`;
}

async function passwdOf({ files }: UserPlace, { signal }: CallOptions): Promise<string> {
  const { chunks } = await files.read("/etc/passwd", { maxBytes: maxPasswdBytes, signal });
  const pieces: Uint8Array[] = [];
  for await (const piece of chunks) pieces.push(piece);
  return Buffer.concat(pieces).toString("latin1");
}

function noChoice(engine: string): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    `Programs of a sandbox cannot choose their user on engine ${engine}: it could be a person or a service of its machine.`,
    {
      suggestion:
        "Leave user out, or use an engine that runs without root or with remapped users (userns-remap), whose sandboxes have users of their own.",
      context: { engine, missing: "chosenUsers" },
    },
  );
}

function ownersOnly(engine: string): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    "Programs of a sandbox that may write to a folder of this machine are always its owner: another user's files there could not be removed by the owner.",
    {
      suggestion: "Leave user out, or use a sandbox without a writable folder of this machine.",
      context: { engine, missing: "chosenUsers" },
    },
  );
}

function noRoot(engine: string): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    `User and group 0 of a sandbox are the person who runs engine ${engine}: programs cannot be them.`,
    { suggestion: "Choose a user from 1 to 59999.", context: { engine, missing: "chosenUsers" } },
  );
}
