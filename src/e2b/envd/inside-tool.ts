/** Where engines put the program that is the first one of a sandbox; it has tools for files that need nothing of the image. */
export const toolPaths = ["/.glovebox/supervisor", "/opt/glovebox/first/supervisor"] as const;

/** Shell text that sets `t` to it, or to nothing where an engine has none. */
export const findTool: string = `t=; for s in ${toolPaths.join(" ")}; do [ -x "$s" ] && t=$s && break; done`;

/** What its tools end with, besides 0. */
export const toolExits = { missing: 3, unsupported: 4, full: 5, notFolder: 6, late: 7, noTool: 127 } as const;
