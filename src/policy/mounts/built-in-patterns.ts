/** What is never handed to a sandbox, whatever an allowlist says, and why. */
export interface BuiltInPatterns {
  /** What such files and folders hold. */
  readonly what: string;
  /** Whole names, `*` and `?` as wildcards; with slashes, names that follow each other. */
  readonly patterns: readonly string[];
}

/** File name endings in which people keep values; code that only talks of tokens has others. */
const dataEndings = ["txt", "json", "yaml", "yml", "toml", "ini", "xml", "csv"];
const asData = (name: string): string[] => [name, ...dataEndings.map((ending) => `${name}.${ending}`)];

/** The built-in blocked patterns (SPEC MO5), complete; docs/mounts.md lists them. */
export const builtInPatterns: readonly BuiltInPatterns[] = [
  {
    what: "SSH keys and settings",
    patterns: [".ssh", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "ssh_host_*_key", "authorized_keys", "*.ppk"],
  },
  {
    what: "private keys and key stores",
    patterns: [
      ...["private_key*", "private-key*", "privatekey*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore"],
      ...[".gnupg", ".gpg", "secring.*", "*.agekey", "ssl/private", ".pki"],
    ],
  },
  {
    what: "credentials of cloud providers",
    patterns: [
      ...[".aws", ".azure", ".gcloud", ".config/gcloud", "appdata/roaming/gcloud", ".oci", ".aliyun", ".ibmcloud"],
      ...[".bluemix", ".config/doctl", ".config/hcloud", ".config/linode-cli", ".config/scw", ".config/rclone"],
      ...["rclone.conf", ".s3cfg", ".boto", ".config/heroku", ".config/configstore", ".wrangler", ".fly"],
      ...["application_default_credentials.json", "service-account*.json", "service_account*.json"],
      ...["client_secret*.json", ".terraform.d", ".terraformrc", "*.tfstate", "*.tfstate.*", ".pulumi"],
    ],
  },
  {
    what: "access to Kubernetes clusters",
    patterns: [".kube", "kubeconfig", "kubeconfig.*", "*.kubeconfig", ".minikube", ".config/helm", ".talos"],
  },
  {
    what: "container engines: credentials and storage",
    patterns: [
      ...[".docker", ".dockercfg", ".config/containers", "containers/auth.json", ".local/share/containers"],
      ...[".colima", ".lima", ".rd", ".orbstack"],
    ],
  },
  {
    what: "sockets of container engines",
    patterns: [
      ...["docker.sock", "docker-*.sock", "podman.sock", "podman-*.sock", "containerd.sock", "containerd.sock.*"],
      ...["crio.sock", "cri-dockerd.sock", "dockershim.sock", "buildkitd.sock", "k3s.sock", "lxd.socket"],
      ...["docker_engine", "podman-machine-*"],
    ],
  },
  { what: "environment files", patterns: [".env", ".env.*", "*.env", ".envrc"] },
  {
    what: "credentials of package registries and build tools",
    patterns: [
      ...[".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", "pip.conf", ".gem", ".m2/settings.xml"],
      ...[".m2/settings-security.xml", ".gradle/gradle.properties", ".composer", "auth.json", ".cargo/credentials*"],
    ],
  },
  {
    what: "credentials of version control and other network tools",
    patterns: [
      ...[".git-credentials", ".netrc", "_netrc", ".config/gh", ".config/hub", ".config/glab-cli", ".svn-auth"],
      ...[".subversion", ".hgrc", ".smbcredentials", ".msmtprc", ".mbsyncrc", ".fetchmailrc"],
    ],
  },
  {
    what: "passwords of databases",
    patterns: [".pgpass", "pgpass.conf", ".pg_service.conf", ".my.cnf", ".mylogin.cnf", ".redisclirc", ".htpasswd"],
  },
  {
    what: "secrets by their name",
    patterns: [
      ...["credential", "credentials", "credential.*", "credentials.*", ".credential*", "*_credentials"],
      ...["secret", "secrets", "secret.*", "secrets.*", ".secret*", "*_secrets"],
      ...[...asData("token"), ...asData("tokens"), ".token*", "*_token", "*_tokens", "access_token*", "auth_token*"],
      ...["api_key*", "api-key*", "apikey*", ...asData("password"), ...asData("passwords")],
      ...[
        ".password*",
        "passwd",
        "passwd-",
        "shadow",
        "shadow-",
        "gshadow",
        "gshadow-",
        ".vault-token",
        ".vault_pass*",
      ],
    ],
  },
  {
    what: "keyrings and password stores",
    patterns: [
      ...["keyrings", "kwalletd", "library/keychains", "*.keychain", "*.keychain-db", "*.kdbx"],
      ...[".password-store", ".config/op", ".op", ".1password", ".config/1password", ".config/bitwarden*"],
      ...[".config/sops", "microsoft/credentials", "microsoft/protect", "microsoft/vault"],
    ],
  },
  {
    what: "browser and mail profiles",
    patterns: [
      ...[".mozilla", ".thunderbird", ".config/google-chrome*", ".config/chromium", ".config/microsoft-edge*"],
      ...[".config/bravesoftware", ".config/vivaldi*", ".config/opera*", "snap/firefox", "snap/chromium"],
      ...[".var/app/org.mozilla.*", ".var/app/com.google.chrome*", ".var/app/org.chromium.*"],
      ...["application support/google", "application support/firefox", "application support/chromium"],
      ...["application support/bravesoftware", "application support/microsoft edge*", "library/cookies"],
      ...["appdata/local/google", "appdata/local/microsoft/edge", "appdata/local/bravesoftware"],
      ...[
        "appdata/roaming/mozilla",
        "appdata/roaming/thunderbird",
        "cookies.sqlite",
        "logins.json",
        "key3.db",
        "key4.db",
        "login data",
      ],
    ],
  },
  {
    what: "histories, which hold what was typed",
    patterns: [".*_history", ".lesshst", ".viminfo", "fish_history"],
  },
  { what: "wallets", patterns: [".bitcoin", ".ethereum", ".electrum", "wallet.dat"] },
];
