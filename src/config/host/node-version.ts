/** Version of the Node that runs this process, such as `24.21.0`. */
export function readNodeVersion(): string {
  return process.versions.node;
}
