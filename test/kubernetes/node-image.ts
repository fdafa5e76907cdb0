import { execFileSync } from "node:child_process";

/** Brings images to the cluster's node: `ctr`, with its address and namespace. */
const [ctr, ...ctrWords] = (process.env["GLOVEBOX_TEST_KUBERNETES_CTR"] ?? "").split(" ");

function toNode(words: readonly string[], input?: Buffer): void {
  if (!ctr) throw new Error("Set GLOVEBOX_TEST_KUBERNETES_CTR: images of these tests must come to the node.");
  execFileSync(ctr, [...ctrWords, ...words], { stdio: "pipe", ...(input === undefined ? {} : { input }) });
}

/** Builds an image of this context, a tar, and brings it to the cluster's node; disposal removes it from both. */
export function imageOnNode(
  reference: string,
  context: Buffer,
  buildArguments: Readonly<Record<string, string>> = {},
): AsyncDisposable {
  const maxBuffer = 2 ** 30;
  const given = Object.entries(buildArguments).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]);
  execFileSync("docker", ["build", "-q", ...given, "-t", reference, "-"], { input: context, stdio: "pipe" });
  try {
    toNode(["images", "import", "-"], execFileSync("docker", ["save", reference], { maxBuffer }));
  } finally {
    execFileSync("docker", ["rmi", "-f", reference], { stdio: "pipe" });
  }
  return {
    [Symbol.asyncDispose]: async () => toNode(["images", "rm", `docker.io/${reference}`]),
  };
}
