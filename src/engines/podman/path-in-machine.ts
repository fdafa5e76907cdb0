/** The path as the service sees it: a Windows drive is mounted under `/mnt` in Podman's machine. */
export function pathInMachine(path: string, platform: NodeJS.Platform): string {
  if (platform !== "win32") return path;
  return path.replaceAll("\\", "/").replace(/^([A-Za-z]):/, (_, drive: string) => `/mnt/${drive.toLowerCase()}`);
}
