export interface ProxyAddressOptions {
  readonly platform: NodeJS.Platform;
  /** Where we may create temporary files. */
  readonly temporaryDirectory: string;
}

/**
 * Address, with that name, at which the proxy's process accepts channels, reachable only on this machine: on Linux an
 * abstract socket, which leaves nothing behind, on Windows a pipe, elsewhere a socket in the temporary folder.
 */
export function proxyAddress(name: string, { platform, temporaryDirectory }: ProxyAddressOptions): string {
  if (platform === "linux") return `\0${name}`;
  return platform === "win32" ? `\\\\.\\pipe\\${name}` : `${temporaryDirectory}/${name}.sock`;
}
