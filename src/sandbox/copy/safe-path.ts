import { GloveboxError } from "../../errors/glovebox-error.ts";

/** Folders in folders that a copy may have, each of which is held open. */
const maxNames = 255;

/** What Windows takes for something else than a name. */
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const notOnWindows = /[<>:"|?*\\\u0000-\u001f]|[. ]$/;
/** Names that Windows takes for devices, whatever stands behind a dot. */
const devicesOfWindows = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³]) *(?:\.|$)/i;

/**
 * The names of a path that came out of a sandbox; empty for the tree's own folder.
 * @throws POLICY_DENIED for one that could lead anywhere else than down
 */
export function safeNames(path: string, platform: NodeJS.Platform): readonly string[] {
  if (path === "") return [];
  const names = path.split("/");
  if (names.length <= maxNames && names.every((name) => isName(name, platform))) return names;
  throw new GloveboxError("POLICY_DENIED", `The sandbox names a file ${JSON.stringify(path.slice(0, 200))}: refused.`, {
    suggestion: "No ordinary program makes such a name. Look at what is in the folder before anything is copied out.",
    context: { rule: "name" },
  });
}

function isName(name: string, platform: NodeJS.Platform): boolean {
  if (name === "" || name === "." || name === ".." || name.includes("\0") || !name.isWellFormed()) return false;
  return platform !== "win32" || !(notOnWindows.test(name) || devicesOfWindows.test(name));
}

/**
 * Whether a link at these names leads to a place within its tree. The folders above it are real ones, so leading `..` go
 * up exactly; behind another name a `..` could start from wherever a link there leads, so there it may not stand.
 */
export function staysInside(target: string, names: readonly string[]): boolean {
  if (target === "" || target.startsWith("/") || target.includes("\0") || target.includes("\\")) return false;
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const down = parts.findIndex((part) => part !== "..");
  const ups = down < 0 ? parts.length : down;
  return ups < names.length && !parts.slice(ups).includes("..");
}

/**
 * Whether a link leads down from where it is, which it still does when programs move it: for trees whose programs follow
 * links on this machine itself.
 */
export function goesDown(target: string): boolean {
  return staysInside(target, [""]);
}
