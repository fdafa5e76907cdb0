import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { CredentialSource } from "./kubernetes-api.ts";
import { findCluster } from "./kubernetes-engine.ts";
import { ownCluster, readKubeconfig, maxConfigBytes, readSettings, type ClusterAccess } from "./cluster-settings.ts";

const usual = {
  "current-context": "here",
  contexts: [
    { name: "here", context: { cluster: "c", user: "u", namespace: "boxes" } },
    { name: "there", context: { cluster: "c" } },
  ],
  clusters: [{ name: "c", cluster: { server: "https://api.example:6443/prefix", "certificate-authority": "ca.pem" } }],
  users: [{ name: "u", user: { token: "t" } }],
};
const none = { context: undefined, namespace: undefined };

function read(config: unknown, options: Parameters<typeof readKubeconfig>[1] = none): ClusterAccess {
  const text = typeof config === "string" ? config : JSON.stringify(config);
  return readKubeconfig([{ path: path.resolve("/etc/kube/config"), text }], options);
}

function refused(config: unknown, options?: Parameters<typeof readKubeconfig>[1]): Promise<string> {
  const reading = Promise.resolve().then(() => read(config, options));
  return failureOf(reading, "ENGINE_UNAVAILABLE").then(({ message }) => message);
}

describe("readKubeconfig", () => {
  it("takes the current context, or the one that is named, and files beside it", () => {
    expect(read(usual)).toMatchObject({
      ...{ namespace: "boxes", origin: "context here", isUnverified: false, user: { token: { text: "t" } } },
      ca: { file: path.resolve("/etc/kube/ca.pem") },
    });
    expect(read(usual, { context: "there", namespace: "mine" })).toMatchObject({
      ...{ namespace: "mine", user: { token: null } },
    });
  });

  it("lets the first file that has an entry say what it is", () => {
    const other = { ...usual, users: [{ name: "u", user: { token: "other" } }] };
    const files = [usual, other].map((each) => ({ path: path.resolve("/a/config"), text: JSON.stringify(each) }));
    expect(readKubeconfig(files, none).user.token).toEqual({ text: "t" });
  });

  it.each([
    ["a server in the clear", { ...usual, clusters: [{ name: "c", cluster: { server: "http://a" } }] }, /https/],
    ["a proxy", { ...usual, clusters: [{ name: "c", cluster: { server: "https://a", "proxy-url": "x" } }] }, /proxy/],
    ["a password", { ...usual, users: [{ name: "u", user: { username: "a" } }] }, /password/],
    ["an auth-provider", { ...usual, users: [{ name: "u", user: { "auth-provider": {} } }] }, /auth-provider/],
    ["a plugin without a command", { ...usual, users: [{ name: "u", user: { exec: { args: [] } } }] }, /no command/],
    ["no context", { ...usual, "current-context": "" }, /no current context/],
    ["a user that is missing", { ...usual, users: [] }, /no user "u"/],
    ["entries of another kind", { ...usual, clusters: { name: "c" } }, /no cluster "c"/],
    ["no YAML", "a: [", /not valid YAML/],
    ["a text", "just words", /no current context/],
  ])("refuses %s, and says what is wrong", async (_, config, words) => {
    expect(await refused(config)).toMatch(words);
  });

  it("refuses what would grow when it is read", async () => {
    const grows = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n";
    expect(await refused(grows)).toMatch(/not valid YAML/);
    expect(await refused(`contexts: ${"[".repeat(20_000)}`)).toMatch(/not valid YAML/);
  });

  it("has no name from an entry that is no own one", async () => {
    const text = '{"__proto__": {"current-context": "here"}, "contexts": []}';
    expect(await refused(text)).toMatch(/no current context/);
    expect(await refused(usual, { context: "x".repeat(10_000), namespace: undefined })).toHaveLength(
      (await refused(usual, { context: "x".repeat(80), namespace: undefined })).length,
    );
  });
});

describe("files of the configuration", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "glovebox-kubeconfig-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const find = (file: string): Promise<ClusterAccess> => findCluster(readSettings({ KUBECONFIG: file }, "x64"), {});

  it("are read only so far", async () => {
    const file = path.join(folder, "long");
    await writeFile(file, "");
    await truncate(file, maxConfigBytes + 1);
    expect((await failureOf(find(file), "ENGINE_UNAVAILABLE")).message).toMatch(/more than 4194304 bytes/);
    const access = { ...ownCluster("10.0.0.1", "443", "default"), user: { ...read(usual).user, token: { file } } };
    const source = new CredentialSource(access, {}, () => 0);
    expect((await failureOf(source.get(), "ENGINE_UNAVAILABLE")).message).toMatch(/cannot be read/);
  });

  it("are told of by name when they are folders", async () => {
    expect((await failureOf(find(folder), "ENGINE_UNAVAILABLE")).message).toMatch(/EISDIR/);
  });
});

describe("a command that gives credentials", () => {
  const credentials = (script: string): CredentialSource => {
    const command = {
      ...{ command: process.execPath, arguments: ["-e", script], apiVersion: "client.authentication.k8s.io/v1" },
      environment: { OWN: "1" },
    };
    return new CredentialSource({ ...read(usual), user: { ...read(usual).user, command } }, {}, () => 0);
  };

  it("gets what the kubeconfig gives it, and no terminal", async () => {
    const source = credentials(
      `const { spec } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
      console.log(JSON.stringify({ status: { token: process.env.OWN + spec.interactive } }))`,
    );
    expect(await source.get()).toMatchObject({ token: "1false" });
  });

  it.each([
    ["fails", "process.exit(3)", /failed/],
    ["prints no JSON", "console.log('hello')", /printed no JSON/],
    ["prints none", "console.log('{\"status\":{}}')", /printed none/],
    ["prints null", "console.log('null')", /printed none/],
    ["prints a token of another kind", 'console.log(\'{"status":{"token":5}}\')', /printed none/],
    ["prints without end", "setInterval(() => process.stdout.write('x'.repeat(65536)), 0)", /failed/],
  ])("is refused when it %s", async (_, script, words) => {
    expect((await failureOf(credentials(script).get(), "ENGINE_UNAVAILABLE")).message).toMatch(words);
  });

  it("tells nothing of what it printed", async () => {
    const error = await failureOf(credentials("console.log('secret-token')").get(), "ENGINE_UNAVAILABLE");
    expect(`${error.message} ${error.suggestion} ${JSON.stringify(error.context)}`).not.toContain("secret-token");
  });
});
