export interface ProxyAddressOptions {
  readonly platform: NodeJS.Platform;
  /** Where files of our own that must not stay may be made. */
  readonly temporaryDirectory: string;
}

/**
 * Address of that name at which the proxy's process takes channels, which only this machine can reach: on Linux it is in no
 * folder and leaves nothing behind, on Windows it is a pipe, elsewhere a socket in the folder of temporary files.
 */
export function proxyAddress(name: string, { platform, temporaryDirectory }: ProxyAddressOptions): string {
  if (platform === "linux") return `\0${name}`;
  return platform === "win32" ? `\\\\.\\pipe\\${name}` : `${temporaryDirectory}/${name}.sock`;
}
