import { matchesWildcard } from "../glob.ts";

/** A pattern of names that no path to a sandbox may hold. */
export interface BlockedPattern {
  /** As it was written. */
  readonly source: string;
  /** What such files hold; null for one that the operator wrote. */
  readonly what: string | null;
  /** Names that must follow each other in a path, folded, with `*` and `?`. */
  readonly names: readonly string[];
}

/** Which pattern refuses a path, and by which of its components. */
export interface BlockedComponent {
  readonly pattern: BlockedPattern;
  /** One component as it is written in the path, or several with slashes. */
  readonly component: string;
}

/**
 * The built-in patterns and the operator's.
 *
 * One of the operator's that has no wildcard is found anywhere in a component's name (`password` refuses
 * `my-passwords.txt`): a list of forbidden names is better too wide than too narrow, and FFT_nano reads its lists so.
 */
export function blockedPatterns(configured: readonly string[]): readonly BlockedPattern[] {
  return [
    ...builtInPatterns.flatMap(({ what, patterns }) =>
      patterns.map((source) => ({ source, what, names: foldedNames(source) })),
    ),
    ...configured.map((source) => ({ source, what: null, names: configuredNames(source) })),
  ];
}

/** Whether a pattern says anything: one that is only slashes and white space does not. */
export function isPattern(source: string): boolean {
  return foldedNames(source).some((name) => name !== "");
}

/** The first component of a path that a pattern refuses; slashes and backslashes both part components. */
export function findBlocked(path: string, patterns: readonly BlockedPattern[]): BlockedComponent | null {
  const components = path.split(/[\\/]/).filter(Boolean);
  const forms = components.map(foldedForms);
  for (const start of components.keys()) {
    const pattern = patterns.find(({ names }) =>
      names.every((name, offset) => forms[start + offset]?.some((form) => matchesWildcard(form, name)) === true),
    );
    if (pattern !== undefined) {
      return { pattern, component: components.slice(start, start + pattern.names.length).join("/") };
    }
  }
  return null;
}

/**
 * A name in the one form in which names are compared: without case, without what Unicode shows alike or not at all.
 *
 * Some file systems take all of these for one name: `.SSH`, `.ſſh` (long s), `.s<zero-width joiner>sh`, decomposed
 * letters, and on Windows `.ssh.` and `.ssh ` too.
 */
function fold(name: string): string {
  const visible = name.normalize("NFKC").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
  const caseless = visible.toLowerCase().toUpperCase().toLowerCase().normalize("NFKC");
  return caseless.replace(/(?<![. ])[. ]+$/, "");
}

/** A component's own form and, for a stream of a file on Windows (`.env::$DATA`), the file's. */
function foldedForms(component: string): readonly string[] {
  const [file = ""] = component.split(":");
  return file === "" || file === component ? [fold(component)] : [fold(component), fold(file)];
}

function foldedNames(source: string): readonly string[] {
  return source.split(/[\\/]/).map(fold).filter(Boolean);
}

/** A plain pattern as what finds it anywhere: open at its ends, save where a slash closes them. */
function configuredNames(source: string): readonly string[] {
  const names = foldedNames(source);
  if (/[*?]/.test(source)) return names;
  const open = names.map((name, index) => {
    const before = index === 0 && !/^[\\/]/.test(source) ? "*" : "";
    const after = index === names.length - 1 && !/[\\/]$/.test(source) ? "*" : "";
    return `${before}${name}${after}`;
  });
  return open;
}

/** What is never handed to a sandbox, whatever an allowlist says, and why. */
interface BuiltInPatterns {
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
