/** What opens a file or an address in the user's browser on each platform; elsewhere it is `xdg-open`. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [file: string, ...args: string[]]>>> = {
  darwin: ["open"],
  // Without a shell, which would take `&` in an address for the end of a command.
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** File and arguments of the program that opens a file or an address in the user's browser. */
export function browserCommand(
  target: string,
  platform: NodeJS.Platform,
): readonly [file: string, args: readonly string[]] {
  const [file, ...args] = openers[platform] ?? ["xdg-open"];
  return [file, [...args, target]];
}
