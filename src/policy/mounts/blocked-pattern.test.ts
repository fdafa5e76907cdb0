import { describe, expect, it } from "vitest";
import { blockedPatterns, findBlocked, isPattern } from "./blocked-pattern.ts";

function blockedBy(path: string, ...configured: string[]): string | undefined {
  return findBlocked(path, blockedPatterns(configured))?.pattern.source;
}

describe("the built-in patterns", () => {
  it.each([
    ["/home/ann/.ssh", ".ssh"],
    ["/home/ann/.ssh/config", ".ssh"],
    ["/home/ann/.ssh/deep/er/file", ".ssh"],
    ["/p/.gnupg/x", ".gnupg"],
    ["/p/.aws", ".aws"],
    ["/p/.azure/a", ".azure"],
    ["/p/.gcloud", ".gcloud"],
    ["/home/ann/.config/gcloud/x", ".config/gcloud"],
    ["/p/.kube/config", ".kube"],
    ["/p/.docker/config.json", ".docker"],
    ["/p/.env", ".env"],
    ["/p/.env.local", ".env.*"],
    ["/p/.env.d/a", ".env.*"],
    ["/p/prod.env", "*.env"],
    ["/p/credentials", "credentials"],
    ["/p/credentials.json", "credentials.*"],
    ["/p/.netrc", ".netrc"],
    ["/p/.npmrc", ".npmrc"],
    ["/p/.pypirc", ".pypirc"],
    ["/p/id_rsa", "id_rsa*"],
    ["/p/id_rsa.pub", "id_rsa*"],
    ["/p/id_ed25519", "id_ed25519*"],
    ["/p/id_ed25519_sk", "id_ed25519*"],
    ["/p/id_ecdsa", "id_ecdsa*"],
    ["/p/private_key.pem", "private_key*"],
    ["/p/server.key", "*.key"],
    ["/p/tokens", "tokens"],
    ["/p/tokens.json", "tokens.json"],
    ["/p/github_token", "*_token"],
    ["/p/secrets/a/b", "secrets"],
    ["/p/secret.yaml", "secret.*"],
    ["/p/.git-credentials", ".git-credentials"],
    ["/home/ann/.local/share/keyrings/login.keyring", "keyrings"],
    ["/Users/ann/Library/Keychains/x", "library/keychains"],
    ["/Users/ann/Library/Application Support/Google/Chrome", "application support/google"],
    ["/home/ann/.config/google-chrome-beta/Default", ".config/google-chrome*"],
    ["/home/ann/.mozilla/firefox", ".mozilla"],
    ["/run/docker.sock", "docker.sock"],
    ["/run/podman/podman.sock", "podman.sock"],
    ["/run/containerd/containerd.sock.ttrpc", "containerd.sock.*"],
    ["/etc/shadow", "shadow"],
    ["/home/ann/.bash_history", ".*_history"],
    ["C:\\Users\\ann\\.ssh\\id", ".ssh"],
  ])("%s is refused by %s", (path, pattern) => expect(blockedBy(path)).toBe(pattern));

  it.each([
    "/home/ann/project/src/main.ts",
    "/p/ssh",
    "/p/my.ssh",
    "/p/.sshd",
    "/p/environment",
    "/p/env",
    "/p/.environment",
    "/p/gcloud/x",
    "/p/.config/app/gcloud",
    "/p/tokenizer.py",
    "/p/tokens.ts",
    "/p/token.py",
    "/p/design-tokens",
    "/p/secretary.txt",
    "/p/credentialing/x",
    "/p/docker/compose.yaml",
    "/p/library/x/keychains",
    "/p/keys/x",
    "/p/pip.config",
    "/p/password.ts",
    "/p/.github/workflows",
    "/p/.gitignore",
    "/p/.git/config",
    "/p/history",
  ])("%s is let through", (path) => expect(blockedBy(path)).toBeUndefined());

  it.each([
    ["upper case", "/p/.SSH/x"],
    ["mixed case", "/p/.sSh"],
    ["a long s", "/p/.\u017f\u017fh"],
    ["full-width letters", "/p/.\uff53\uff53\uff48"],
    ["a zero-width joiner", "/p/.s\u200dsh"],
    ["a soft hyphen", "/p/.ss\u00adh"],
    ["a variation selector", "/p/.ssh\ufe0f"],
    ["a trailing dot, as Windows drops", "/p/.ssh."],
    ["a trailing space, as Windows drops", "/p/.ssh "],
    ["a stream, as Windows has", "/p/.ssh::$INDEX_ALLOCATION"],
    ["a backslash", "\\p\\.ssh\\x"],
  ])("%s does not get past .ssh", (_, path) => expect(blockedBy(path)).toBe(".ssh"));

  it("takes composed and decomposed letters for the same", () => {
    expect(blockedBy("/p/cle\u0301s", "cl\u00e9s")).toBe("cl\u00e9s");
    expect(blockedBy("/p/CL\u00c9S", "cle\u0301s")).toBe("cle\u0301s");
  });

  it("finds the Kelvin sign in a key's name", () => expect(blockedBy("/p/server.\u212aey")).toBe("*.key"));

  it("tells the component as it is written", () => {
    const patterns = blockedPatterns([]);
    expect(findBlocked("/p/.SSH/config", patterns)?.component).toBe(".SSH");
    expect(findBlocked("/p/.Config/GCloud/x", patterns)?.component).toBe(".Config/GCloud");
  });
});

describe("the operator's patterns", () => {
  it.each([
    ["password", "/p/my-passwords.md"],
    ["CuStomer", "/p/CUSTOMERS"],
    ["internal/keys", "/p/my-internal/keys2/x"],
    ["/private/", "/p/private/x"],
    ["/private/", "/p/private"],
    ["*.sql", "/p/dump.sql/x"],
    ["db-?", "/p/db-1"],
    ["data/*.csv", "/p/data/a.csv"],
    ["C:\\vault", "/x/C:/vault"],
  ])("%j refuses %s", (pattern, path) => expect(blockedBy(path, pattern)).toBe(pattern));

  it.each([
    ["/private/", "/p/privately/x"],
    ["*.sql", "/p/dump.sql.txt"],
    ["db-?", "/p/db-12"],
    ["data/*.csv", "/p/data/sub/a.csv"],
    ["internal/keys", "/p/internal/x/keys"],
  ])("%j lets %s through", (pattern, path) => expect(blockedBy(path, pattern)).toBeUndefined());

  it("never take a built-in one away", () => expect(blockedBy("/p/.ssh", "other")).toBe(".ssh"));

  it("must say something", () => {
    expect(["", " ", "/", "//", ". .", "\u200d"].filter(isPattern)).toEqual([]);
    expect(["a", "*", "/a/"].every(isPattern)).toBe(true);
  });
});
