import { GloveboxError } from "../../errors/glovebox-error.ts";

/** Maximum depth of a copy's folders, each of which is held open. */
const maxNames = 255;

/** Characters that Windows does not treat as part of a name. */
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const notOnWindows = /[<>:"|?*\\\u0000-\u001f]|[. ]$/;
/** Names that Windows treats as devices, with any extension. */
const devicesOfWindows = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³]) *(?:\.|$)/i;

/**
 * The names of a path that came out of a sandbox; empty for the tree's own folder.
 * @throws POLICY_DENIED for one that could lead anywhere but down
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
 * Whether a link at this path leads to a path within its tree. The folders above it are real, so leading `..` go up
 * exactly one level each; after another name, which may itself be a link, a `..` could start anywhere and is refused.
 */
export function staysInside(target: string, names: readonly string[]): boolean {
  if (target === "" || target.startsWith("/") || target.includes("\0") || target.includes("\\")) return false;
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const down = parts.findIndex((part) => part !== "..");
  const ups = down < 0 ? parts.length : down;
  return ups < names.length && !parts.slice(ups).includes("..");
}

/**
 * Whether a link leads down from where it is, which stays true if programs move it: for trees whose programs follow
 * links on this machine itself.
 */
export function goesDown(target: string): boolean {
  return staysInside(target, [""]);
}
